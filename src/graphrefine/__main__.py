"""``python -m graphrefine``: the program, where its command is not on the path."""

from __future__ import annotations

from graphrefine.cli import start

if __name__ == "__main__":
    start()
