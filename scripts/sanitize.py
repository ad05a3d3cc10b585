"""Tests and fuzzing of the compiled kernels under sanitizers: ``make sanitize``.

    python scripts/sanitize.py [address] [thread] [--minutes 1] [--fuzz "--count 100000"]

The kernels are compiled by GCC into ``build/sanitize/KIND``, which the installed ones know nothing of: ``address`` with
AddressSanitizer and UndefinedBehaviorSanitizer, ``thread`` with ThreadSanitizer. Tests of kernels run with each, and
the targets ``kernels-*`` of ``fuzz/`` as long as ``--minutes`` says, or as ``--fuzz`` does, with the first.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "sanitize"
LIBRARIES = {"address": "libasan.so", "thread": "libtsan.so"}
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4000:handle_abort=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1",
}
KERNELS = ["test_bounds", "test_exact", "test_kernels", "test_least_squares", "test_read_kernels", "test_skipgram"]
KERNELS += ["test_variants", "test_walks", "test_live_kernel"]
THREADED = [name for name in KERNELS if name not in ("test_variants", "test_live_kernel")]
TESTS = {"address": KERNELS, "thread": THREADED}
SITE = """\
import importlib.machinery, importlib.util, sys
from pathlib import Path

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "graphrefine.kernels._native":
            return importlib.util.spec_from_file_location(name, next(Path(__file__).parent.glob("_native*.so")))

sys.meta_path.insert(0, Finder())
"""


def main() -> None:
    """Build and run what was asked for; the exit code is that of the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["address", "thread"], metavar="KIND", help="address, thread")
    parser.add_argument("--minutes", type=float, default=1.0, help="of fuzzing [1]")
    parser.add_argument("--fuzz", default="", help="other options of fuzz.run")
    parser.add_argument("--no-tests", action="store_true")
    options = parser.parse_args()
    unknown = set(options.kinds) - set(TESTS)
    if unknown:
        parser.error(f"{unknown.pop()!r} is no kind of sanitizer; address and thread are known")
    for kind in options.kinds:
        folder = build(kind)
        if not options.no_tests:
            paths = [f"tests/kernels/{name}.py" for name in TESTS[kind]]
            run(kind, folder, ["-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:playwright", *paths])
        if kind == "address":
            how = shlex.split(options.fuzz) or ["--minutes", str(options.minutes)]
            run(kind, folder, ["-m", "fuzz.run", "--group", "kernels", *how])


def build(kind: str) -> Path:
    """Compile the kernels with a sanitizer."""
    folder = PLACE / kind
    settings = ["-DCMAKE_BUILD_TYPE=None", f"-DGRAPHREFINE_SANITIZE={kind}", f"-DPython_EXECUTABLE={sys.executable}"]
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_CXX_COMPILER=g++", *settings]
    for command in (configure, ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    (folder / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    return folder


def run(kind: str, folder: Path, arguments: list[str]) -> None:
    """Run Python with the sanitizer's library and kernels."""
    names = (LIBRARIES[kind], "libstdc++.so.6")  # the second, as exceptions are to be found by the first
    found = [subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip() for name in names]
    environment = {**os.environ, **OPTIONS, "LD_PRELOAD": ":".join(found), "PYTHONPATH": f"{folder}:tests"}
    environment |= {"PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"}
    fixed = ["setarch", "-R"] if kind == "thread" else []  # ThreadSanitizer wants its addresses
    print(f"{kind}: {' '.join(arguments)}", flush=True)
    done = subprocess.run([*fixed, sys.executable, *arguments], env=environment, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
