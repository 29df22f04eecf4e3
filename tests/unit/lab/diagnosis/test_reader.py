"""The reader: true line numbers, visible text, any encoding, bounded memory."""

import io
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lab.diagnosis import Hints, diagnose, load_signatures
from lab.diagnosis.lines import decode, visible_parts
from lab.diagnosis.reader import KEEP_ALL, read_lines
from lab.diagnosis.scan import PlainScanner, scanner
from lab.diagnosis.source import blocks

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB"


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (b"plain", ["plain"]),
        (b"windows\r", ["windows"]),
        (b" 10%|# | 1/10\r 20%|## | 2/10\r 30%|### | 3/10", [" 30%|### | 3/10"]),
        (
            b" 10%|# | 1/10 [00:01<00:09]\rValueError: bad\r 20%|## | 2/10 [00:02]",
            ["ValueError: bad", " 20%|## | 2/10 [00:02]"],
        ),
        (b"\x1b[1;31mRed\x1b[0m text", ["Red text"]),
        (b"a\x00b\x07", ["ab"]),
        (b"", [""]),
    ],
)
def test_what_a_reader_would_see_of_a_line(raw: bytes, parts: list[str]) -> None:
    assert visible_parts(raw) == parts


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("设备上没有空间", "gb18030"),
        ("Kein Speicherplatz verfügbar", "latin-1"),
        ("デバイスに空き領域がありません", "cp932"),
        ("plain – dash", "utf-8"),
    ],
)
def test_a_line_is_decoded_though_nobody_names_its_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_wide_encodings_are_told_by_mark_or_by_their_noughts(encoding: str) -> None:
    log = f"step 1\nstep 2\n{OOM}\n"
    found = diagnose(log.encode(encoding), Hints(1))
    assert found.category == "gpu-oom-capacity"
    assert found.evidence is not None
    assert found.evidence.line == 3


def test_blocks_are_whole_lines_and_count_them() -> None:
    data = b"".join(b"line %d\n" % i for i in range(1, 5001)) + b"unfinished"
    found = list(blocks(io.BytesIO(data), size=1000))
    assert b"".join(block.data for block in found) == data
    for block in found[:-1]:
        first = block.data.split(b"\n", 1)[0]
        assert first == b"line %d" % block.first


def test_a_line_without_an_end_does_not_grow_the_memory() -> None:
    found = list(blocks(io.BytesIO(b"x" * 3_000_000 + b"\nend\n")))
    assert max(len(block.data) for block in found) < 1_500_000
    assert found[-1].first + found[-1].ends == 3


def test_kept_lines_of_a_long_log_have_their_true_numbers() -> None:
    rows = [f"2025-01-01 10:00:00 INFO step {i} loss 0.5 tokens 100" for i in range(60_000)]
    for place in (7, 31_234, 45_000):
        rows[place] = f"RuntimeError: CUDA error: an illegal memory access was encountered {place}"
    log = "\n".join(rows).encode()
    assert len(log) > 2 * KEEP_ALL
    kept = {line.number: line.text for line in read_lines(log, load_signatures())}
    assert all(rows[number - 1] == text for number, text in kept.items())
    assert {8, 31_235, 45_001} <= kept.keys()
    assert len(kept) < 30_000


def test_both_scanners_see_the_same() -> None:
    literals = ["out of memory", "é", "Nan", "[errno 28]", "xyz"]
    block = "Out Of MEMORY … [Errno 28] é and nan".encode()
    assert (
        scanner(literals).present(block)
        == PlainScanner([one.lower() for one in literals]).present(block)
        == {0, 1, 2, 3}
    )


_MEASURE = """
import re, sys
from lab.diagnosis import Hints, diagnose
with open(sys.argv[1], "rb") as log:
    found = diagnose(log, Hints(1))
with open("/proc/self/status") as status:
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", status.read())
print(found.category, found.evidence.line, int(peak[1]) // 1024)
"""


def test_64_mib_are_read_in_bounded_memory(tmp_path: Path) -> None:
    random.seed(1)
    row = "".join(f"2025-01-01 10:00:{i % 60:02d} INFO step {i} loss {random.random():.4f} ok\n" for i in range(16_000))
    path = tmp_path / "big.log"
    with path.open("w") as out:
        for _ in range(90):
            out.write(row)
        out.write(OOM + "\n")
        out.write("srun: error: n1: task 0: Exited with exit code 1\n")
    assert path.stat().st_size > 60 << 20
    done = subprocess.run([sys.executable, "-c", _MEASURE, str(path)], capture_output=True, text=True, check=True)
    category, line, mebibytes = done.stdout.split()
    assert (category, int(line)) == ("gpu-oom-capacity", 90 * 16_000 + 1)
    assert int(mebibytes) < 60
