"""``python -m graphrefine.cli.child PARENT embed ...``: the program as a child, which ends with its parent.

The parent (`graphrefine.evaluate.embed_subprocess`) blocks some signals while it starts a child, and cannot end it when
it is killed itself: the child unblocks them and watches its parent. Little is imported here, because the memory of a
child is measured.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from graphrefine.cli import main as program


def main() -> None:
    """Run a command of the program: ``sys.argv`` has the id of the parent, then the command."""
    parent = int(sys.argv.pop(1))
    if os.name == "posix":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    program.main()


def _end_with(parent: int) -> None:
    """End this process soon after its parent."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
