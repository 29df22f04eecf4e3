"""`labhand parse` and `labhand plan`: what a message means, without storing anything."""

import argparse
from typing import Any

from agent.offline import Interpretation, interpret
from agent.offline_model import question_text, vocabulary_of
from bot.bootstrap import shelf_reader
from bot.cli.output import print_json
from bot.settings import load_settings
from lab.home import Home
from lab.planning.estimate import Estimate, estimate
from lab.planning.goal import Design, Goal
from lab.planning.matrix import cells, size
from lab.planning.resolve import Resolved, resolve
from lab.recipe.files import Shelf
from lab.recipe.model import Recipe
from lab.words import settings_words


def parse(arguments: argparse.Namespace) -> int:
    """Print the tool call that the offline mind would make."""
    found = _understood(arguments.text, _shelf())
    call = {"tool": found.call.tool, "arguments": dict(found.call.arguments)}
    if arguments.json:
        print_json(call)
        return 0
    print(f"{call['tool']} {call['arguments']}")
    for line in (*found.understood, *found.questions):
        print(f"  {line}")
    return 0


def plan(arguments: argparse.Namespace) -> int:
    """Print the plan for a goal; exit status 1 when the message asks for no plan."""
    shelf = _shelf()
    found = _understood(arguments.text, shelf)
    if found.call.tool != "plan_experiment":
        if arguments.json:
            print_json({"goal": arguments.text, "questions": [question_text(found) or "This asks for no experiment."]})
        else:
            print(f"This asks for no experiment: I read it as {found.call.tool}.")
        return 1
    goal = Goal.model_validate({**found.call.arguments, "goal": arguments.text})
    resolved = resolve(goal, shelf)
    view = plan_view(goal, resolved, found.questions)
    if arguments.json:
        print_json(view)
    else:
        _print_view(view)
    return 0


def plan_view(goal: Goal, resolved: Resolved, questions: tuple[str, ...] = ()) -> dict[str, Any]:
    """The plan as the JSON that `labhand plan` promises."""
    design, recipe = resolved.design, resolved.recipe
    factors = dict(design.factors if design is not None else goal.factors)
    ranges = dict(design.ranges if design is not None else goal.ranges)
    candidates = _candidates(recipe, design) if recipe is not None and design is not None else []
    return {
        "goal": goal.goal,
        "recipe": recipe.name if recipe is not None else None,
        "factors": {name: list(levels) for name, levels in factors.items()},
        "ranges": {name: list(span) for name, span in ranges.items()},
        "n_runs": size(design) if design is not None else goal.n_runs,
        "metrics": list(design.metrics if design is not None else goal.metrics),
        "resources": goal.resources.model_dump(exclude_none=True),
        "limits": goal.limits.model_dump(exclude_none=True),
        "candidates": candidates,
        "questions": [*questions, *resolved.questions],
        "notes": list(resolved.notes),
    }


def _candidates(recipe: Recipe, design: Design) -> list[dict[str, Any]]:
    settings = cells(recipe, design)
    found = estimate(recipe, settings, (), design.resources)
    why = "every cell of the matrix is run once" if not design.ranges else "trials are spread evenly over the ranges"
    return [_candidate(design, found, why)]


def _candidate(design: Design, found: Estimate, why: str) -> dict[str, Any]:
    return {
        "strategy": design.strategy,
        "n_runs": found.runs,
        "gpu_hours": found.gpu_hours,
        "gpu_hours_low": found.gpu_hours_low,
        "gpu_hours_high": found.gpu_hours_high,
        "stopping": ["all runs have ended", "a loss that is not a number ends its run"],
        "score": 1.0,
        "why": f"{why}; estimate from {found.basis}",
    }


def _print_view(view: dict[str, Any]) -> None:
    print(f"recipe: {view['recipe'] or 'none fits'}; {view['n_runs']} runs")
    print(settings_words({name: ", ".join(map(str, levels)) for name, levels in view["factors"].items()}))
    for candidate in view["candidates"]:
        print(f"{candidate['strategy']}: {candidate['n_runs']} runs, {candidate['gpu_hours']} GPU-hours")
    for line in (*view["questions"], *view["notes"]):
        print(f"  {line}")


def _understood(text: str, shelf: Shelf) -> Interpretation:
    return interpret(text, vocabulary_of(shelf))


def _shelf() -> Shelf:
    settings = load_settings()
    return shelf_reader(settings, Home(settings.home.expanduser()))()
