"""Code that all packages of prorl share: errors, atomic files and journals, seeds, progress, plug-ins.

``config``, ``rollout_files`` and ``serving`` are not imported here, because they need further packages.
"""

from prorl_common.closing import Closing
from prorl_common.errors import (
    DiskFullError,
    MissingExtraError,
    ProrlError,
    ServiceError,
    UserError,
    nearest,
    pip_install,
    plain_words,
    prorl_command,
    why_unreadable,
)
from prorl_common.files import (
    Journal,
    atomic_directory,
    atomic_write_bytes,
    atomic_write_text,
    cache_root,
    check_output,
    read_jsonl,
    sha256_file,
)
from prorl_common.interrupts import on_interrupt
from prorl_common.plugins import (
    Door,
    FolderDoor,
    Installed,
    Origin,
    PluginError,
    UnknownNameError,
    installed_plugins,
    plugin_environment,
    plugin_files,
    use_plugins,
    what_failed,
)
from prorl_common.progress import NullProgress, PlainProgress, Progress, format_seconds
from prorl_common.seeds import derive_seed

__all__ = [
    "Closing",
    "DiskFullError",
    "Door",
    "FolderDoor",
    "Installed",
    "Journal",
    "MissingExtraError",
    "NullProgress",
    "Origin",
    "PlainProgress",
    "PluginError",
    "Progress",
    "ProrlError",
    "ServiceError",
    "UnknownNameError",
    "UserError",
    "atomic_directory",
    "atomic_write_bytes",
    "atomic_write_text",
    "cache_root",
    "check_output",
    "derive_seed",
    "format_seconds",
    "installed_plugins",
    "nearest",
    "on_interrupt",
    "pip_install",
    "plain_words",
    "plugin_environment",
    "plugin_files",
    "prorl_command",
    "read_jsonl",
    "sha256_file",
    "use_plugins",
    "what_failed",
    "why_unreadable",
]
