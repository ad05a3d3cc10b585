"""The command line: ``graphrefine``, one module a command."""
