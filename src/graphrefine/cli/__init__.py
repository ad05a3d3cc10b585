"""The command line: ``graphrefine``. One module a command, with its options, its help and its work."""


def start() -> None:
    """Run the program, as the command on the path does."""
    import signal

    # Until there is work to undo, Ctrl-C ends the program without a traceback of the imports.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from graphrefine.cli.main import main

    main()
