"""The command line: ``graphrefine``. A command has its options and help in ``commands/``, its work in a module here."""


def start() -> None:
    """Run the program, as the command on the path does. Ctrl-C ends it without a word until there is work to undo."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from graphrefine.cli.main import main

    main()
