"""The seccomp profile of a container, in the engine's JSON.

It holds for everything in the container, init included, and is the box's own allow-list
(``box.seccomp``) by name, with what init and the making of a program need beside it. Each program
also gets the box's filter itself, which looks at arguments more closely. Leaves out what the engine
does when it cannot filter: it refuses the container.
"""

from __future__ import annotations

import json
from typing import Any

from prorl_sandbox.box import seccomp

_ALLOW, _DENY = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_ENOSYS = 38
_AF_UNIX = 1
_OF_INIT = (
    "capset", "fstatfs", "landlock_add_rule", "landlock_create_ruleset",
    "landlock_restrict_self", "mincore", "seccomp", "set_robust_list", "statfs", "statx",
)  # fmt: skip
"""What the engine's starter, Python's start and the shutting in of programs need."""
_BY_ARGUMENT = ("clone", "socket", "socketpair")


def build_profile() -> dict[str, Any]:
    """Return the profile as the engine's API takes it in JSON: what is not named is refused, with
    ENOSYS, for a C library then does without."""
    names = {*seccomp.named_calls(), *_OF_INIT} - set(_BY_ARGUMENT)
    flags = {"index": 0, "value": seccomp.NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    unix = {"index": 0, "value": _AF_UNIX, "valueTwo": 0, "op": "SCMP_CMP_EQ"}
    return {
        "defaultAction": _DENY,
        "defaultErrnoRet": _ENOSYS,
        "syscalls": [
            {"names": sorted(names), "action": _ALLOW},
            {"names": ["clone"], "action": _ALLOW, "args": [flags]},
            {"names": ["socket", "socketpair"], "action": _ALLOW, "args": [unix]},
            # By name as well, for engines that know no default number.
            {"names": ["clone3"], "action": _DENY, "errnoRet": _ENOSYS},
        ],
    }


def profile_text() -> str:
    """Return the profile as the engine's ``seccomp=`` option takes it."""
    return json.dumps(build_profile())
