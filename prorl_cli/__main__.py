"""``python -m prorl_cli`` is ``prorl``."""

from prorl_cli.main import main

main()
