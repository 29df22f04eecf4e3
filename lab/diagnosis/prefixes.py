"""Who wrote a line: the rank, worker, node, time and level prefixes of launchers and loggers, peeled off one by one."""

import re
from dataclasses import dataclass

_RANK = (
    re.compile(r"^\[(?:rank|default|Rank|RANK|trainer)[ _-]?(\d+)\](?:<\w+>)?:?[ ]?"),  # torchrun, c10d
    re.compile(r"^\[\d+,\s?(\d+)\]<std(?:err|out)>:[ ]?"),  # Open MPI --tag-output, Horovod
    re.compile(r"^(?:rank|Rank|RANK)[ _-]?(\d+)\s?[:|>][ ]?"),
    re.compile(r"^\((?:rank|Rank)[ =]?(\d+)\):?[ ]?"),
    re.compile(r"^\[(\d{1,4})\](?:<std(?:err|out)>)?:[ ]?"),
    re.compile(r"^\[[\w.-]+:(?:rank)?(\d{1,4})\]:?[ ]?"),
    re.compile(r"^ ?(\d{1,4}): "),  # srun --label
    re.compile(r"^(\d{1,4}):(?=$|  )"),
    re.compile(r"^<(\d{1,4})>:?[ ]"),
)
_NAME = (
    re.compile(r"^\(((?:[\w.]+ )?pid=\d+(?:, ip=[\d.]+)?)\)[ ]?"),  # Ray
    re.compile(r"^\[(w\d+|worker[-_ ]?\d+|proc[-_ ]?\d+|gpu[-_ ]?\d+|node[-_ ]?\d+|actor[-_ ]?\d+)\]:?[ ]?", re.I),
    re.compile(
        r"^((?:worker|node|trainer|launcher|ps|chief|master|gpu|host|task|pod|cn|dgx)[\w.]*(?:-[\w.]+)*-?\d+):[ ]"
    ),
    re.compile(
        r"^((?!python|pip|step|epoch|layer|loss|block|stage|fold|top|acc|cuda)[a-z][a-z0-9]*(?:-[a-z0-9]+)*-?\d+(?:\.[a-z][\w.]*)?):(?:[ ]|$)"
    ),  # pdsh, DeepSpeed multinode
    re.compile(r"^([a-z][\w-]*?[-_]?\d+)\s+\| "),  # docker compose, foreman
)
_BRACKET = re.compile(
    r"^\[(?!rank|deepspeed|info|warn|error|debug|notice|fatal|critical)([a-z][\w.-]{0,23})\](?=[ ]|$)[ ]?"
)
_TIME = (
    re.compile(
        r"^\[?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,:]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\]?(?: ?[-|:])?[ ]?"
    ),
    re.compile(r"^\[?\d\d[-/]\d\d(?:[-/]\d\d(?:\d\d)?)? \d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?: ?[-|:](?= ))?[ ]?"),
    re.compile(r"^\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?! ?(?:since|without|no|old|ago|elapsed)\b)(?: ?[-|](?= ))?[ ]?"),
    re.compile(r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? (?:[\w.-]+ )?(?=\S)"),  # syslog, journald
    re.compile(r"^\[ *\d+\.\d{6}\][ ]?"),  # kernel ring buffer
)
_STREAM_TAG = re.compile(r"^std(?:err|out) [FP][ ]?")  # Kubernetes CRI
_LEVEL = re.compile(
    r"^\s?[\[|<(]?(?P<level>DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL)[\]|>)]?(?::[\w.]*:|[ :|-]+|$)(?! *FATAL)"
)
_MOST_PEELS = 6


@dataclass(frozen=True, slots=True)
class Prefix:
    """A line's writer and time as its prefixes tell them, and what is left. Unknown parts are empty."""

    stream: str
    level: str
    body: str


def peel(text: str) -> Prefix:
    """Take the prefixes off; the indentation behind them stays, since tracebacks need it."""
    stream = ""
    for _ in range(_MOST_PEELS):
        rank, rest = _peel_writer(text)
        if rank:
            stream, text = rank if rank.startswith("rank ") or not stream else stream, rest
            continue
        rest = _peel_time(text)
        if rest == text:
            break
        text = rest
    level = _LEVEL.match(text)
    return Prefix(stream, level["level"].upper() if level else "", text)


def message_of(body: str) -> str:
    """The body without its level word, where it has one."""
    level = _LEVEL.match(body)
    return body[level.end() :] if level else body


def _peel_writer(text: str) -> tuple[str, str]:
    for pattern in _RANK:
        found = pattern.match(text)
        if found:
            return f"rank {int(found[1])}", text[found.end() :]
    for pattern in (*_NAME, _BRACKET):
        found = pattern.match(text)
        if found:
            return found[1], text[found.end() :]
    return "", text


def _peel_time(text: str) -> str:
    for pattern in (*_TIME, _STREAM_TAG):
        found = pattern.match(text)
        if found and found.end():
            return text[found.end() :]
    return text
