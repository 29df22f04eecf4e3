"""From a message to the call that it asks for."""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from agent.offline.bounds import Bounds, read_bounds, read_metrics
from agent.offline.changes import Parts, change_arguments, clauses_of, is_follow_up, merged, retry_arguments
from agent.offline.commands import UNDERSTOOD, read_command
from agent.offline.model import Interpretation, RecipeWords, ThreadContext, ToolCall, Vocabulary
from agent.offline.names import read_names
from agent.offline.settings import Found, read_settings
from agent.offline.text import Page, language_of, normalise
from agent.offline.watch import read_watch

Language = Literal["en", "zh"]
_VERBS = re.compile(
    r"compar|comapre|\btrain|\brun\b|\btry\b|\btest|sweep|\bgrid\b|\btun(?:e|ing)|fine-?tun|evaluat|ablat|benchmark|experiment|explore|search|does\s.+help|help\?|vs\.?\s|versus"
    r"|effect\s+of|impact\s+of|optimi[sz]e|measure|study|compute|plan|跑|比较|对比|训练|微调|测试|试|实验|评估|消融|搜索|调参|探索|研究|看看"
)
_QUOTED = re.compile(r"\"[^\"]{15,}\"|`[^`]{15,}`|```.*?```", re.DOTALL)
_REPORTED = re.compile(
    r"(?:the\s+)?(?:log|output|file|readme|error|message|page|it)\s+(?:says?|said|reads?|contains?|tells?|prints?|printed)\s*[:,]?\s.*|(?:日志|输出|文件|报错)(?:里)?(?:说|写着|显示|写)\s*[::]?.*",
    re.DOTALL,
)
_NEEDS_RUN = ("cancel_run", "retry_run", "diagnose_run", "show_log", "why_waiting")
_NEEDS_PLAN = ("cancel_plan", "run_plan", "compare_results")
_ASK = {
    ("run", "en"): "Which run do you mean? Name its number; “queue” and “status” list them.",
    ("run", "zh"): "您指的是哪个实验？请给出编号；“队列”和“状态”会列出它们。",
    ("plan", "en"): "Which plan do you mean? Name its number; “status” lists them.",
    ("plan", "zh"): "您指的是哪个计划？请给出编号；“状态”会列出它们。",
    (
        "what",
        "en",
    ): "What would you like to compare, and on what? For instance: compare mlp and cnn on digits, lr 0.1 and 0.01.",
    ("what", "zh"): "您想比较什么，在什么数据上？例如：在digits上比较mlp和cnn，学习率0.1和0.01。",
    ("unclear", "en"): "I did not understand that. Say “help” to see what I can do.",
    ("unclear", "zh"): "我没有看懂。输入“帮助”可以查看我能做什么。",
    ("change", "en"): "What should be different?",
    ("change", "zh"): "需要改成什么样？",
}


def interpret(
    text: str,
    vocabulary: Vocabulary = Vocabulary(),  # noqa: B008 - frozen
    context: ThreadContext = ThreadContext(),  # noqa: B008 - frozen
    now: datetime | None = None,
) -> Interpretation:
    """Read one message. `now` serves deadlines such as “by Friday”."""
    plain = normalise(text)
    language: Language = "zh" if language_of(plain) == "zh" else "en"
    if not plain:
        return _asking("help", "what", language)
    own_words = _REPORTED.sub(" ", _QUOTED.sub(" ", plain.lower())) if len(plain) > 30 else plain.lower()
    page = Page(plain)
    watch = read_watch(Page(plain), vocabulary) if own_words.strip() else None
    if watch is not None:
        return _done(watch, language)
    command = read_command(own_words, context)
    if command is not None and not _is_plan_after_all(command, plain):
        return _command(command, page, vocabulary, language, now)
    parts = _read_parts(page, vocabulary, now)
    follows = is_follow_up(own_words) or _is_fragment(own_words, parts)
    if context.plan is not None and follows and not _is_new_plan(own_words, parts):
        arguments = _changes(plain, own_words, parts, vocabulary, now)
        if arguments:
            return _done(ToolCall("change_plan", {"plan": context.plan, **arguments}), language)
    return _plan(plain, own_words, parts, vocabulary, language)


def _changes(plain: str, own_words: str, parts: Parts, vocabulary: Vocabulary, now: datetime | None) -> dict[str, Any]:
    """What a follow-up changes, clause by clause where it has several."""
    clauses = clauses_of(plain)
    if len(clauses) < 2:
        return change_arguments(own_words, parts)
    return merged([change_arguments(c.lower(), _read_parts(Page(c), vocabulary, now)) for c in clauses])


def _is_plan_after_all(command: ToolCall, plain: str) -> bool:
    """A word such as “results” in a message that sets settings does not make it a question about results."""
    if command.tool not in (
        "compare_results",
        "ask_knowledge",
        "show_status",
        "show_queue",
        "show_gpus",
        "find_duplicates",
    ):
        return False
    found = read_settings(Page(plain))
    return sum(len(levels) > 1 for levels in found.factors.values()) > 0 and not re.search(r"\?\s*$|？", plain)


def _command(
    command: ToolCall, page: Page, vocabulary: Vocabulary, language: Language, now: datetime | None
) -> Interpretation:
    arguments = dict(command.arguments)
    if command.tool == "retry_run":
        arguments |= retry_arguments(page.lower, _read_parts(page, vocabulary, now))
    if command.tool == "ask_knowledge":
        arguments["question"] = page.text
        models, datasets = read_names(page, vocabulary)
        arguments |= {"model": models[0]} if models else {}
        arguments |= {"dataset": datasets[0]} if datasets else {}
    call = ToolCall(command.tool, arguments)
    if command.tool in _NEEDS_RUN and "run" not in arguments:
        return _asking(command.tool, "run", language)
    if command.tool in _NEEDS_PLAN and "plan" not in arguments:
        return _asking(command.tool, "plan", language)
    return _done(call, language)


def _read_parts(page: Page, vocabulary: Vocabulary, now: datetime | None) -> Parts:
    """Settings, bounds and names of the page, in the order in which they can be told apart."""
    bounds = read_bounds(page, now)
    found = read_settings(page, vocabulary.settings)
    bounds.metrics = read_metrics(page, vocabulary.metrics)
    models, datasets = read_names(page, vocabulary)
    return Parts(
        _ordered(found, models, datasets, bounds, vocabulary), found.spans, bounds, tuple(n for _p, n in found.loose)
    )


def _ordered(
    found: Found, models: list[str], datasets: list[str], bounds: Bounds, vocabulary: Vocabulary
) -> dict[str, list[Any]]:
    factors: dict[str, list[Any]] = {}
    if models:
        factors["model"] = models
    if datasets:
        factors["dataset"] = datasets
    factors |= found.factors
    if bounds.seeds is not None:
        factors["seed"] = bounds.seeds
    return factors


def _is_fragment(lowered: str, parts: Parts) -> bool:
    """`3 seeds`, `lr 0.1 too`: a few words that name no model and no data make sense only with what was said before."""
    return len(lowered) < 60 and not {"model", "dataset"} & parts.factors.keys() and not _VERBS.search(lowered)


def _is_new_plan(lowered: str, parts: Parts) -> bool:
    """A message that names what to run on is a plan of its own even when it begins like a change."""
    return (
        "dataset" in parts.factors
        and ("model" in parts.factors or len(parts.factors) > 2)
        and bool(re.search(r"compar|train|finetune|fine-tune|对比|比较|训练", lowered))
    )


def _plan(plain: str, lowered: str, parts: Parts, vocabulary: Vocabulary, language: Language) -> Interpretation:
    factors, bounds = dict(parts.factors), parts.bounds
    if not factors and not parts.spans:
        reason = "what" if _VERBS.search(lowered) else "unclear"
        return _asking("help" if reason == "unclear" else "plan_experiment", reason, language)
    searching = bounds.strategy in ("bayesian", "random", "adaptive") or (
        bounds.trials is not None and bool(parts.spans) and bounds.strategy != "grid"
    )
    arguments: dict[str, Any] = {"goal": plain}
    if searching and parts.spans:
        arguments["ranges"] = {name: list(span) for name, span in parts.spans.items()}
        factors = {name: levels for name, levels in factors.items() if name not in parts.spans}
    arguments["factors"] = factors
    arguments["n_runs"] = _size(factors, bounds, searching=searching and bool(parts.spans))
    recipe = _recipe(plain, vocabulary)
    optional = {
        "recipe": recipe,
        "strategy": bounds.strategy,
        "metrics": bounds.metrics,
        "limits": bounds.limits,
        "resources": bounds.resources,
    }
    arguments |= {name: value for name, value in optional.items() if value}
    call = ToolCall("plan_experiment", arguments)
    return Interpretation(call, _understood(arguments, language), (), language, 0.9 if _VERBS.search(lowered) else 0.6)


def _size(factors: Mapping[str, list[Any]], bounds: Bounds, *, searching: bool) -> int:
    if searching or (bounds.trials is not None and bounds.strategy in ("bayesian", "random", "adaptive")):
        return bounds.trials or 20
    return math.prod(len(levels) for levels in factors.values())


def _recipe(plain: str, vocabulary: Vocabulary) -> str | None:
    """A recipe named as such: `with the digits recipe`, `recipe: digits`."""
    match = re.search(r"recipe\s*[:=]?\s*([\w.-]+)|([\w.-]+)\s+recipe|([\w.-]+)配方", plain, re.IGNORECASE)
    if match is None:
        return None
    name = next(group for group in match.groups() if group)
    known: tuple[RecipeWords, ...] = vocabulary.recipes
    return next((r.name for r in known if name.lower() in {n.lower() for n in (r.name, *r.aliases)}), None)


def _understood(arguments: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    lines = [f"{name}: {', '.join(map(str, levels))}" for name, levels in arguments["factors"].items()]
    lines += [f"{name}: {low:g} … {high:g}" for name, (low, high) in arguments.get("ranges", {}).items()]
    lines += [f"{name}: {arguments[name]}" for name in ("strategy",) if name in arguments]
    lines += [f"metrics: {', '.join(arguments['metrics'])}"] if "metrics" in arguments else []
    for name in ("limits", "resources"):
        pairs: Mapping[str, Any] = arguments.get(name, {})
        lines += [f"{name}: " + ", ".join(f"{key} {value}" for key, value in pairs.items())] if pairs else []
    lines.append(f"{arguments['n_runs']} 个实验" if language == "zh" else f"{arguments['n_runs']} runs")
    return tuple(lines)


def _done(call: ToolCall, language: Language) -> Interpretation:
    words = UNDERSTOOD.get(call.tool)
    return Interpretation(call, (words[language == "zh"],) if words else (), (), language)


def _asking(tool: str, what: str, language: Language) -> Interpretation:
    words = UNDERSTOOD.get(tool)
    understood = (words[language == "zh"],) if words and what in ("run", "plan") else ()
    return Interpretation(ToolCall(tool), understood, (_ASK[what, language],), language, 0.3)
