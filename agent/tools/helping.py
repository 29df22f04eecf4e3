"""The help."""

from agent.tool import Answer, AnyTool, Arguments, Outcome, Tool, ToolContext
from lab.cards import Card
from lab.policy import Effect
from lab.words import listing


class Help(Arguments):
    topic: str | None = None


def _help(context: ToolContext, _arguments: Help) -> Outcome:
    shelf = context.lab.shelf()
    lines = [
        "Tell me what you would like to find out, for instance:",
        "- compare mlp and cnn on digits with lr 0.1 and 0.01, batch size 64 to 1024, 3 seeds",
        "- why did run 7 fail? · show the last 50 lines of run 7 · retry run 7 with half the batch size",
        "- status · queue · who is using the A100s · how many GPU hours have I used",
        "- drop cnn · only 2 seeds · run it · cancel plan 3",
        "",
        "I draw up a plan first and start nothing before you press Run. Runs that fail are diagnosed from their own "
        "logs, repaired where that is safe, and tried again, at most three times.",
    ]
    recipes = [f"**{r.name}** (models {listing([*r.models]) or 'any'}): {r.about}" for r in shelf.recipes]
    lines += ["", "This lab's recipes:", *(f"- {line}" for line in recipes or ["none yet: see docs/RECIPES.md"])]
    lines += [f"- can't be read: {problem}" for problem in shelf.problems]
    return Answer("The help was shown.", (Card("help", "What I can do", "\n".join(lines)),))


TOOLS: tuple[AnyTool, ...] = (Tool("help", "Say what Labhand can do.", Help, Effect.READ, _help),)
