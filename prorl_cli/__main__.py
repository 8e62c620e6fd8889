"""Entry point of ``prorl`` and ``python -m prorl_cli``; handles Ctrl-C before the command line is loaded."""

import sys

from prorl_common import interrupts


def start() -> None:
    """Run the command line; see ``prorl_cli.main`` for exit codes."""
    code: str | int | None = 0
    try:
        interrupts.watch()
        from prorl_cli.main import main

        main()
    except KeyboardInterrupt:  # Ctrl-C while the command line was loading
        code = interrupts.INTERRUPTED
    except SystemExit as end:
        code = end.code
    interrupts.leave(code if isinstance(code, int) else 0)
    sys.exit(code)


if __name__ == "__main__":
    start()
