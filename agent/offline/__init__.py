"""The offline mind: a deterministic reader of English and Chinese requests. It needs no language model.

`interpret` makes the message plain, asks the command rules, and else reads it as a plan: settings with their levels,
bounds, seeds, then models and datasets from what is left. What has been understood is crossed off, so that nothing is
read twice. Numbers and ids come from the words or from the thread; none is invented.
"""

from agent.offline.model import Interpretation, RecipeWords, ThreadContext, ToolCall, Vocabulary
from agent.offline.read import interpret

__all__ = ["Interpretation", "RecipeWords", "ThreadContext", "ToolCall", "Vocabulary", "interpret"]
