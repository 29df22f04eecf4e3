"""The tools, typed and few."""

from agent.tool import AnyTool, by_name


def all_tools() -> dict[str, AnyTool]:
    """Every tool by name, in the order in which the help lists them."""
    from agent.tools import helping, plans, runs, views

    return by_name([*plans.TOOLS, *runs.TOOLS, *views.TOOLS, *helping.TOOLS])
