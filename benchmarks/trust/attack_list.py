"""All attacks, in the order of the readers."""

from __future__ import annotations

from attack_kinds import BOMBS
from attack_readers import BY_NAME
from attack_tables import TABLES
from attack_texts import TEXTS

ATTACKS = sorted([*BOMBS, *TEXTS, *TABLES], key=lambda attack: list(BY_NAME).index(attack.reader))
