"""Typos of everyday chat: a word that is one slip away from a word of experiments is read as that word."""

from functools import cache

_WORDS = (
    "learning rate rates compare comparing comparison batch size sizes epochs epoch seeds dropout optimizer optimizers momentum weight"
    " decay warmup scheduler schedule precision augmentation gradient checkpointing smoothing resolution layers hidden temperature"
    " train training finetune evaluate evaluation benchmark sweep bayesian random search trials accuracy perplexity budget hours cancel"
    " retry status queue results matrix experiment experiments dataset datasets model models baseline between without report measure"
    " ablation bigger default deadline tomorrow tonight priority plan please sequence length context attention heads transformer steps"
    " iterations minutes quota available label fraction against versus adaptive strategy random augmentations resnet imagenet cifar"
).split()
_LEAST, _LEAST_FOR_TWO = 5, 9


def corrected(low: str, known: bool) -> str | None:
    """The word meant by a misspelt one in lower case; `None` where it stands as it is."""
    if known or len(low) < _LEAST or not (low.isalpha() and low.isascii()) or len(low) > 16:
        return None
    table = _deletes()
    near = {word for form in (low, *_shorter(low)) for word in table.get(form, ()) if _one_slip(low, word)}
    if len(near) != 1 and len(low) >= _LEAST_FOR_TWO and not near:
        near = {
            word
            for form in _shorter(low)
            for one in _shorter(form)
            for word in table.get(one, ())
            if len(word) >= _LEAST_FOR_TWO - 1
        }
    return min(near) if len(near) == 1 else None


def _shorter(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place in range(len(word))]


def _one_slip(one: str, other: str) -> bool:
    """One letter wrong, missing, added, or two neighbours swapped. The first letter is seldom the wrong one."""
    if one == other or abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    if len(one) == len(other):
        wrong = [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        if len(wrong) == 2:
            first, second = wrong
            return second == first + 1 and one[first] == other[second] and one[second] == other[first]
        return len(wrong) == 1
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return shorter in _shorter(longer)


@cache
def _deletes() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in _WORDS:
        if len(word) >= _LEAST:
            for form in (word, *_shorter(word)):
                found.setdefault(form, set()).add(word)
    return {form: frozenset(words) for form, words in found.items()}
