"""``python -m graphrefine``: the program, where its command is not on the path."""

from __future__ import annotations

from graphrefine.cli.main import main

if __name__ == "__main__":
    main()
