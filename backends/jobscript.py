"""The script that runs one job: pure rendering of a `JobSpec` to POSIX sh.

The script is the same on every machine that runs plain processes. It is started as `sh DIRECTORY/job.sh`; the
directory's name is the job's key, so that the text does not depend on it. What it writes is read by `jobrecord`.
"""

import re
import shlex
import signal
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from backends.base import JobSpec
from backends.errors import JobRejected

CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GRACE_S = 10
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NOT_PLAIN = re.compile(r"[^ -~]")
_KIB = 1024


def render_job_script(spec: JobSpec, argv: Sequence[str], path: str = CLEAN_PATH, grace_s: int = GRACE_S) -> str:
    """The text of `job.sh`.

    `argv` is what is executed: the spec's own with the machine's interpreter in place. `path` is the job's PATH.
    `grace_s` is the time in seconds between the request to end (TERM) and KILL. Raises `JobRejected` for a spec
    that can't be written down.
    """
    check_spec(spec)
    check_text(argv)
    memory, limit = spec.resources.memory_bytes, spec.resources.time_limit_s
    head = [
        "#!/bin/sh",
        f"# {_NOT_PLAIN.sub('?', spec.name)}",
        f"code={shlex.quote(spec.code_dir or '')}",
        f"memory_kib={'' if memory is None else max(1, memory // _KIB)}",
        f"time_limit_s={'' if limit is None else limit}",
        f"grace_s={grace_s}",
        *_own_names_function(spec.own_names),
        *_start_function(spec, argv, path),
    ]
    return "\n".join(head) + "\n" + _fixed_part()


def base_environment(spec: JobSpec, path: str = CLEAN_PATH) -> dict[str, str]:
    """The variables of every job that do not depend on its directory, with `spec.env` on top.

    `OMP_NUM_THREADS` keeps numerical libraries to the CPUs asked for (also OpenBLAS and MKL read it); a job that asks
    for no GPU sees none (an empty `CUDA_VISIBLE_DEVICES` hides all, CUDA C++ programming guide).
    """
    base = {"PATH": path, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": str(spec.resources.cpus)}
    if spec.resources.gpus == 0:
        base["CUDA_VISIBLE_DEVICES"] = ""
    return {**base, **spec.env}


def check_spec(spec: JobSpec) -> None:
    """Raise `JobRejected` when no machine could run `spec` as it is written."""
    if not spec.argv or not spec.argv[0]:
        raise JobRejected("The job has no command.", next_step="Give the recipe a command.")
    for name in spec.env:
        if not _ENV_NAME.fullmatch(name):
            raise JobRejected(
                f"{name!r} can't be the name of an environment variable.",
                next_step="Use letters, digits and underscores, with no digit in front.",
            )
    for name in spec.own_names:
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise JobRejected(
                f"{name!r} is no path within the work directory.", next_step="Give the recipe a relative directory."
            )
    check_text((*spec.argv, *spec.env.values(), *spec.own_names, spec.code_dir or ""))
    _check_amounts(spec)
    if f"SIG{spec.checkpoint_signal}" not in signal.Signals.__members__:
        raise JobRejected(
            f"{spec.checkpoint_signal!r} is not the name of a signal.", next_step="Use a name such as USR1 or TERM."
        )


def check_text(texts: Sequence[str]) -> None:
    """Raise `JobRejected` for text that can't be an argument: a NUL character, or half of a surrogate pair."""
    for text in texts:
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise JobRejected(
                f"{text!r} has a character that can't be passed to a program.", next_step="Remove that character."
            )


def _check_amounts(spec: JobSpec) -> None:
    asked = spec.resources
    amounts = {"memory": asked.memory_bytes, "time limit": asked.time_limit_s, "cpus": asked.cpus, "nodes": asked.nodes}
    for what, amount in amounts.items():
        if amount is not None and amount <= 0:
            raise JobRejected(f"The job asks for {amount} {what}.", next_step="Ask for more than nothing.")
    if asked.gpus < 0:
        raise JobRejected(f"The job asks for {asked.gpus} GPUs.", next_step="Ask for 0 or more GPUs.")


def _own_names_function(own_names: Sequence[str]) -> list[str]:
    top = sorted({PurePosixPath(name).parts[0] for name in own_names if PurePosixPath(name).parts})
    arms = [f"    case $1 in {' | '.join(shlex.quote(name) for name in top)}) return 0 ;; esac"] if top else []
    return ["is_own() {", *arms, "    return 1", "}"]


def _start_function(spec: JobSpec, argv: Sequence[str], path: str) -> list[str]:
    environment = [shlex.quote(f"{name}={value}") for name, value in base_environment(spec, path).items()]
    own = ['"HOME=$dir/home"', '"TMPDIR=$dir/tmp"', '"LABHAND_ATTEMPT_DIR=$dir"', '"LABHAND_KEY=$key"']
    own = [entry for entry in own if entry[1:].split("=")[0] not in spec.env or "LABHAND" in entry]
    # env would read a command that holds "=" as one more variable
    through_sh = ["sh", "-c", shlex.quote('exec "$@"'), "sh"] if "=" in argv[0] else []
    words = [*environment, *own, *through_sh, *(shlex.quote(word) for word in argv)]
    return ["start() {", '    exec setsid env ${reset:+"$reset"} -i \\', *_continued(words), "}"]


def _continued(words: Sequence[str]) -> list[str]:
    return [f"        {word} \\" for word in words[:-1]] + [f"        {words[-1]}"]


@cache
def _fixed_part() -> str:
    return resources.files("backends").joinpath("jobscript.sh").read_text(encoding="utf-8")
