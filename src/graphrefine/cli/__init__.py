"""The command line: ``graphrefine``. A command has its options and help in ``commands/``, its work in a module here."""
