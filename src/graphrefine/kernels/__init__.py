"""The only door to compiled code.

Each kernel exists twice: in C++ (``native/*.cpp``) and as a SciPy twin that gives the same answer more slowly.
"""

from __future__ import annotations
