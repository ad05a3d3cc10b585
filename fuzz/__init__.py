"""Fuzzing: valid inputs, changed at random, for every door through which strangers' bytes come in.

``target.py`` says what a target is, ``targets/`` has them, ``mutations.py`` and ``codecs.py`` change inputs,
``worker.py`` tries them in a child, ``harness.py`` watches the children, ``findings.py`` keeps what was found,
``run.py`` is the program.
"""
