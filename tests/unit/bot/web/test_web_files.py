"""Log files on their way in, pictures on their way out."""

import codecs
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.files import HEAD_BYTES, TAIL_BYTES, NotText, picture_file, picture_url, text_of


async def chunks(data: bytes, size: int = 65_536) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")), st.integers(1, 7))
async def test_a_short_file_comes_whole_however_it_is_cut(text: str, size: int) -> None:
    assert await text_of(chunks(text.encode(), size)) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
async def test_marks_of_other_encodings_are_read(encoding: str) -> None:
    assert await text_of(chunks("Fehler: größer\n".encode(encoding))) == "Fehler: größer\n"


async def test_a_long_file_keeps_its_first_and_last_lines() -> None:
    lines = [f"step {number} loss={number / 7:.4f}" for number in range(200_000)]
    data = "\n".join([*lines, "RuntimeError: the end"]).encode()
    text = await text_of(chunks(data))
    kept = text.splitlines()
    assert kept[0] == lines[0]
    assert kept[-1] == "RuntimeError: the end"
    assert f"[… the middle of {len(data):,} bytes is left out …]" in kept
    assert set(kept) - set(lines) == {"RuntimeError: the end", f"[… the middle of {len(data):,} bytes is left out …]"}
    assert HEAD_BYTES + TAIL_BYTES - 200 < len(text) < HEAD_BYTES + TAIL_BYTES + 200


async def test_a_long_file_without_lines_is_cut_too() -> None:
    text = await text_of(chunks(b"x" * (HEAD_BYTES + TAIL_BYTES + 10)))
    assert text.count("x") == HEAD_BYTES + TAIL_BYTES


async def test_the_end_of_a_long_utf_16_file_is_read() -> None:
    data = codecs.BOM_UTF16_LE + ("zeile\n" * 400_000 + "Ende").encode("utf-16-le")
    text = await text_of(chunks(data))
    assert text.startswith("zeile\n")
    assert text.endswith("\nzeile\nEnde")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\0\0", b"\0"])
async def test_what_is_no_text_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(NotText):
        await text_of(chunks(data))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    root = tmp_path / "images"
    (root / "sub dir").mkdir(parents=True)
    (root / "m.png").write_bytes(b"png")
    (root / "sub dir" / "ü#1.PNG").write_bytes(b"png")
    (root / "notes.txt").write_text("no picture")
    (root / "evil.svg").write_text("<svg onload='x'/>")
    (root / "folder.png").mkdir()
    (tmp_path / "token.png").write_text("secret")
    (root / "link.png").symlink_to(tmp_path / "token.png")
    return root


def test_pictures_have_an_address_that_is_new_for_each_version(images: Path) -> None:
    first = picture_url(images, str(images / "m.png"))
    assert first is not None
    assert first.startswith("/images/m.png?v=")
    nested = picture_url(images, str(images / "sub dir" / "ü#1.PNG"))
    assert (nested or "").startswith("/images/sub%20dir/%C3%BC%231.PNG?v=")
    os.utime(images / "m.png", ns=(1, 1))
    assert picture_url(images, str(images / "m.png")) == "/images/m.png?v=1"


@pytest.mark.parametrize(
    "path",
    ["../token.png", "link.png", "notes.txt", "evil.svg", "folder.png", "missing.png", "", "\0.png", "/etc/passwd",
     "sub dir/../../token.png", "x" * 5000 + ".png"],
)  # fmt: skip
def test_nothing_else_is_served(images: Path, path: str) -> None:
    assert picture_file(images, path) is None
    assert picture_url(images, path) is None
