"""The REFINE paper, reproduced: `reproduce` runs its experiments and sets our figures beside the paper's.

Tables 1 to 5, Figures 1 to 3, and every claim of the text that can be measured. Finished measurements are kept in
``cells/`` in the report's folder; a second run takes them from there.
"""

from __future__ import annotations

from reproduction.experiments import EXPERIMENTS, select_experiments
from reproduction.reproduction import Reproduction, reproduce, survey
from reproduction.setup import full, quick

__all__ = ["EXPERIMENTS", "Reproduction", "full", "quick", "reproduce", "select_experiments", "survey"]
