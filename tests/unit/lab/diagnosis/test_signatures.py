"""Every shipped signature passes its own examples; a lab's own file is checked the same way."""

from pathlib import Path

import pytest

from lab.diagnosis import check_signatures, load_signatures
from lab.diagnosis.library import BadSignature, example_problems, library
from lab.diagnosis.signature import Signature


@pytest.mark.parametrize("signature", library().all, ids=lambda one: one.id)
def test_a_signature_matches_its_examples_and_not_its_counter_examples(signature: Signature) -> None:
    assert example_problems(signature, "shipped") == []
    assert signature.source


@pytest.mark.parametrize("signature", library().all, ids=lambda one: one.id)
def test_every_pattern_of_a_signature_is_a_regular_expression(signature: Signature) -> None:
    conditions = [*signature.conditions, *(one for variant in signature.variants for one in variant.conditions)]
    for pattern in (*signature.patterns, *signature.unless, *(one.pattern for one in conditions)):
        pattern.search("")


def test_a_labs_own_file_adds_and_replaces(tmp_path: Path) -> None:
    own = tmp_path / "ours.yaml"
    own.write_text(
        "source: our cooling loop\n"
        "signatures:\n"
        "  - id: pump-stopped\n"
        "    category: gpu-hardware-fault\n"
        "    pattern: 'COOLANT PUMP (?P<pump>\\d+) STOPPED'\n"
        "    examples: ['COOLANT PUMP 3 STOPPED']\n"
    )
    assert check_signatures(own) == []
    known = {one.id for one in load_signatures([own])}
    assert "pump-stopped" in known
    assert "torch-gpu-oom" in known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("signatures: [", "not readable as YAML"),
        ("signature: []", "no list of `signatures`"),
        ("signatures: [{id: a, category: gpu-oom, pattern: 'abc def'}]", "category is 'gpu-oom'"),
        ("signatures: [{id: a, category: hang, pattern: 'ab[c'}]", "no regular expression"),
        ("signatures: [{id: a, category: hang, pattern: '.+'}]", "Add `anchors`"),
        ("signatures: [{id: a, category: hang, pattern: 'abc', actions: [reboot]}]", "unknown action 'reboot'"),
        ("signatures: [{id: a, category: hang, pattern: 'abc', wieght: 3}]", "unknown key 'wieght'"),
        ("signatures: [{id: a, category: hang, pattern: '{{NOPE}} abc'}]", "unknown word"),
        ("signatures: [{id: a, category: hang, pattern: 'abc'}]", "has no examples"),
        ("signatures: [{id: a, category: hang, pattern: 'abc', examples: ['xyz']}]", "does not match its example"),
        ("signatures: [{id: a, category: hang, pattern: abc, examples: [abc], not: [abcd]}]", "which it must not"),
    ],
)
def test_a_broken_file_is_told_with_file_entry_and_mend(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    (problem,) = check_signatures(path)
    assert words in problem
    assert str(path) in problem


def test_loading_a_broken_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "gone.yaml"
    with pytest.raises(BadSignature, match="can't be read"):
        load_signatures([path])
