"""Pieces of patterns for the short texts of commands and watches. Every repeat in them is bounded."""

from agent.offline.lexicon import GPUS

LITERAL = r"(?<![a-z\d.@-])\d{1,9}(?:\.\d{1,9})?(?:e-?\d{1,2})?%?(?![a-z\d]|\.\d)"
WORD_NUMBER = (
    r"(?:\d{1,9}(?:\.\d{1,9})?|(?<![a-z])(?:an?|one|single|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen"
    r"|twenty|thirty|forty|fifty|sixty|hundred|half a dozen|a dozen|dozen|a couple of|a couple|couple of)(?![a-z])|[一两二三四五六七八九十百]{1,6})"
)
GPU = "(?:" + "|".join(sorted((gpu.replace(" ", "[ -]?") for gpu in GPUS), key=len, reverse=True)) + "|[2345]0[789]0)"
