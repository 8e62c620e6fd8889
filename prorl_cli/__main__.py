"""``prorl`` and ``python -m prorl_cli``: hear of Ctrl-C from the first moment on, then load the command line."""

from prorl_common import interrupts


def start() -> None:
    """Run the command line as a process of its own; see ``prorl_cli.main`` for exit codes."""
    interrupts.watch()
    try:
        from prorl_cli.main import main

        main()
    except KeyboardInterrupt:  # while it was loading
        raise SystemExit(interrupts.INTERRUPTED) from None


if __name__ == "__main__":
    start()
