"""Whatever the bytes, there is a verdict; whatever harmless text is mixed in, it stays the same."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.diagnosis import Hints, diagnose, load_signatures
from lab.diagnosis.anchors import anchors
from lab.diagnosis.library import library
from lab.diagnosis.taxonomy import CATEGORIES
from tests.unit.lab.diagnosis.corpus import Case, cases

_WORDS = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "KeyError: 'x'",
        "\r",
        "\x1b[31m",
        "[rank1]: ",
        "100%|#|",
    ]
)
_HINTS = st.builds(
    Hints,
    st.one_of(st.none(), st.integers(-15, 255)),
    st.sampled_from([None, "SIGKILL", "SIGTERM", "SIGINT", "odd"]),
    st.sampled_from([None, "FAILED", "TIMEOUT", "COMPLETED", "OUT_OF_ME+", "?"]),
    st.one_of(st.none(), st.text(max_size=40)),
)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000), _HINTS)
def test_arbitrary_bytes_get_a_verdict(data: bytes, hints: Hints) -> None:
    assert diagnose(data, hints).category in CATEGORIES


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(_WORDS, st.text(max_size=30)), max_size=40), _HINTS)
def test_scraps_of_logs_get_a_verdict_with_a_line_that_exists(scraps: list[str], hints: Hints) -> None:
    log = "\n".join(scraps)
    found = diagnose(log.encode("utf-8", "replace"), hints)
    assert found.category in CATEGORIES
    if found.evidence is not None:
        assert 1 <= found.evidence.line <= log.count("\n") + 1


_ROW = b"Traceback (most recent call last):\n  File 'a', line 1, in f\n    x\nKeyError: 1\n"
_CHAIN = (
    b'Traceback (most recent call last):\n  File "a", line 1, in f\n    x\nKeyError: 1\n\nDuring handling of the above '
)
_EXTREMES = {
    "a chain without end": (_CHAIN + b"exception, another exception occurred:\n\n") * 2000,
    "many tracebacks": _ROW * 2000,
    "brackets": b"[" * 100_000 + b"\n" + b'"' * 100_000,
    "blanks": b" " * 300_000,
    "one long line": b"error " * 400_000,
    "the same loss for ever": b"loss nan " * 20_000,
    "one failed allocation after the other": b"RuntimeError: CUDA out of memory. Tried to allocate 1 GiB\n" * 4000,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", list(_EXTREMES))
def test_extreme_logs_are_judged_in_reasonable_time(name: str) -> None:
    assert diagnose(_EXTREMES[name], Hints(1)).category in CATEGORIES


_NOISE = [
    "2025-01-06 12:46:04.065693: E external/xla/cuda_fft.cc:477] Unable to register cuFFT factory: Attempting",
    "/env/lib/x.py:3: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated",
    "host:1:2 [0] NCCL INFO NET/IB : No device found.",
    "wandb: Network error (ConnectTimeout), entering retry loop.",
    "Some weights of Bert were not initialized from the model checkpoint, new: ['classifier.weight']",
]
_CASCADE = [
    "[rank11]:[E811 05:31:11.1 ProcessGroupNCCL.cpp:616] [Rank 11] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=4411, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600015 milliseconds",
    "[rank12]:[E811 05:31:12.1 ProcessGroupNCCL.cpp:630] [Rank 12] Some NCCL operations have failed or timed out.",
    "srun: error: gpu-g02: tasks 11-12: Aborted (core dumped)",
    "wandb: Find logs at: ./wandb/run-1/logs",
]


def _each(prefix: str) -> Callable[[str], str]:
    return lambda log: "\n".join(prefix + line for line in log.split("\n"))


_DRESSES: dict[str, Callable[[str], str]] = {
    "torchrun": _each("[rank3]: "),
    "srun": _each("3: "),
    "open mpi": _each("[1,3]<stderr>:"),
    "ray": _each("(TrainWorker pid=123, ip=10.0.0.2) "),
    "kubernetes": _each("2025-01-01T00:00:00.123456789Z stderr F "),
    "host": _each("gpu-a07: "),
    "time": _each("[2025-01-01 00:00:00] "),
    "windows": lambda log: log.replace("\n", "\r\n"),
    "colours": lambda log: "\n".join(f"\x1b[31m{line}\x1b[0m" for line in log.split("\n")),
    "consequences": lambda log: "\n".join([log.rstrip("\n"), *_CASCADE, ""]),
}
_ALONE = [case for case in cases() if "rank" not in case.log and "several-writers" not in case.tags]
_FAILED = {"no-failure", "cause-not-in-log", "collective-mismatch", "hang", "user-cancelled"}


@pytest.mark.parametrize("dress", list(_DRESSES))
def test_a_verdict_does_not_depend_on_how_the_launcher_dresses_the_lines(dress: str) -> None:
    changed: dict[str, list[str]] = {}
    for case in _ALONE:
        if dress == "consequences" and (case.expected["category"] in _FAILED or case.hints.exit_code in (0, None)):
            continue
        wrong = case.wrong(diagnose(_DRESSES[dress](case.log).encode(), case.hints))
        if wrong:
            changed[case.id] = wrong
    assert changed == {}


_FATAL = [
    case for case in cases() if case.expected["category"] in ("disk-full", "data-invalid", "binary-incompatibility")
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(_FATAL),
    st.lists(st.sampled_from(_NOISE), max_size=8),
    st.lists(st.sampled_from(_CASCADE), max_size=6),
)
def test_benign_lines_and_consequences_change_nothing(case: Case, noise: list[str], cascade: list[str]) -> None:
    log = "\n".join([*noise, case.log.rstrip("\n"), *cascade])
    assert diagnose(log.encode(), case.hints).category in case.allowed("category")


def test_every_example_holds_an_anchor_of_each_pattern_that_it_matches() -> None:
    for signature in library():
        for pattern in signature.patterns:
            words = anchors(pattern.text)
            for example in signature.examples:
                found = pattern.search(example)
                if found is not None and words:
                    assert any(word in found[0].lower() for word in words), (signature.id, pattern.text)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("out of memory", ("out of memory",)),
        ("(?:CUDA|HIP) error", (" error",)),
        ("a+bcd?e", ()),
        ("no (?:space|room) left", (" left",)),
        (r"(?i)Disk Full", ("disk full",)),
        ("x|long words", ()),
        ("[Pp]ermission denied", ("ermission denied",)),
    ],
)
def test_the_anchors_of_a_pattern(pattern: str, expected: tuple[str, ...]) -> None:
    assert anchors(pattern) == expected


def test_signatures_are_loaded_once() -> None:
    assert load_signatures() is load_signatures()
