"""What every room shares: errors, atomic files and journals, seeds, progress.

Standard library only. Nothing here knows about models, rewards or datasets.
"""

from prorl_common.closing import Closing
from prorl_common.errors import MissingExtraError, ProrlError, ServiceError, UserError, nearest
from prorl_common.files import (
    Journal,
    atomic_directory,
    atomic_write_bytes,
    atomic_write_text,
    read_jsonl,
    sha256_file,
)
from prorl_common.progress import NullProgress, PlainProgress, Progress, format_seconds
from prorl_common.seeds import derive_seed

__all__ = [
    "Closing",
    "Journal",
    "MissingExtraError",
    "NullProgress",
    "PlainProgress",
    "Progress",
    "ProrlError",
    "ServiceError",
    "UserError",
    "atomic_directory",
    "atomic_write_bytes",
    "atomic_write_text",
    "derive_seed",
    "format_seconds",
    "nearest",
    "read_jsonl",
    "sha256_file",
]
