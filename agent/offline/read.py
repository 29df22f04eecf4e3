"""From a message to the call that it asks for."""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from agent.offline.bounds import Bounds
from agent.offline.changes import change_arguments, clauses_of, is_follow_up, merged, needs_plan, retry_arguments
from agent.offline.commands import UNDERSTOOD, read_command
from agent.offline.model import Interpretation, RecipeWords, ThreadContext, ToolCall, Vocabulary
from agent.offline.orders import ACTING, asks_whether_done, is_order, own_words
from agent.offline.parts import SEARCHES, Parts, read_parts
from agent.offline.pointing import plan_named
from agent.offline.text import language_of, normalise
from agent.offline.watch import read_watch

Language = Literal["en", "zh"]
_VERBS = re.compile(
    r"compar|comapre|\btrain|\brun\b|\btry\b|\btest|sweep|\bgrid\b|\btun(?:e|ing)|fine-?tun|evaluat|ablat|benchmark|experiment|explore|search|does\s.+help|help\?|vs\.?\s|versus"
    r"|effect\s+of|impact\s+of|optimi[sz]e|measure|study|compute|plan|跑|比较|对比|训练|微调|测试|试|实验|评估|消融|搜索|调参|探索|研究|看看"
)
_MOST_READ = 1500
_MOST_COMMAND = 400
_MAY_BE_PLANS = (
    "compare_results",
    "ask_knowledge",
    "show_status",
    "show_queue",
    "show_gpus",
    "find_duplicates",
    "show_log",
    "show_quota",
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
    (
        "order",
        "en",
    ): "That may not be an order of yours, so I did nothing. If it is, say it plainly, for instance “cancel run 7”.",
    ("order", "zh"): "这句话可能不是您的指令，所以我没有执行。如果需要，请直接说，例如“取消实验7”。",
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
    answer = _answer(plain, context)
    if answer is not None:
        return _done(answer, language)
    said = _said_by_the_person(plain)
    parts = read_parts(plain, vocabulary, now)
    watch = read_watch(said, parts)
    if watch is not None:
        return _done(watch, language)
    command = read_command(said, context)
    if command is not None and not _is_plan_after_all(command, plain, parts):
        return _command(command, plain, said, parts, language)
    change = _change(plain, said, parts, vocabulary, context, now)
    if change is not None:
        return (
            _asking("change_plan", "plan", language, change)
            if "plan" not in change
            else _done(ToolCall("change_plan", change), language)
        )
    return _plan(plain, said, parts, vocabulary, language)


def _answer(plain: str, context: ThreadContext) -> ToolCall | None:
    """The call that was asked about, when the message is the number it lacked: `9`, `run 9`, `9号`."""
    tool = context.last_question
    number = re.fullmatch(r"(?:(?:run|plan|job|实验|计划) ?)?#?(\d{1,9})(?: ?号)?[.!]?", plain.lower())
    if tool is None or number is None or tool not in (*_NEEDS_RUN, *_NEEDS_PLAN):
        return None
    return ToolCall(tool, {"run" if tool in _NEEDS_RUN else "plan": int(number[1])})


def _said_by_the_person(plain: str) -> str:
    """What the person says in their own words, in lower case: without what they quote from logs and files."""
    return own_words(plain[:_MOST_READ].lower())[:_MOST_COMMAND]


def _change(
    plain: str, said: str, parts: Parts, vocabulary: Vocabulary, context: ThreadContext, now: datetime | None
) -> dict[str, Any] | None:
    """The arguments of `change_plan`, when the message follows up on a plan: the one it names, else the thread's."""
    named, follows = plan_named(said), is_follow_up(said)
    plan = named if named is not None else context.plan
    fragment = context.plan is not None and _is_fragment(said, parts)
    if not (follows or fragment) or _is_new_plan(said, parts) or (plan is None and not needs_plan(said, parts)):
        return None
    clauses = clauses_of(plain[:_MOST_COMMAND])
    if len(clauses) < 2:
        arguments = change_arguments(said, parts)
    else:
        arguments = merged([change_arguments(part.lower(), read_parts(part, vocabulary, now)) for part in clauses])
    if not arguments:
        return None
    return {"plan": plan, **arguments} if plan is not None else arguments


def _is_plan_after_all(command: ToolCall, plain: str, parts: Parts) -> bool:
    """A word such as “results” in a message that sets settings does not make it a question about results."""
    if command.tool not in _MAY_BE_PLANS:
        return False
    varied = any(len(levels) > 1 for name, levels in parts.factors.items() if name not in ("model", "dataset"))
    return varied and not re.search(r"\?\s*$", plain)


def _command(command: ToolCall, plain: str, said: str, parts: Parts, language: Language) -> Interpretation:
    arguments = dict(command.arguments)
    if command.tool in ACTING and not is_order(plain[:_MOST_READ].lower()):
        return _no_order(command, said, language)
    if command.tool == "retry_run":
        arguments |= retry_arguments(said, parts)
    if command.tool == "ask_knowledge":
        arguments["question"] = plain
        for name in ("model", "dataset"):
            levels = parts.factors.get(name)
            arguments |= {name: levels[0]} if levels else {}
    call = ToolCall(command.tool, arguments)
    if command.tool in _NEEDS_RUN and "run" not in arguments:
        return _asking(command.tool, "run", language)
    if command.tool in _NEEDS_PLAN and "plan" not in arguments:
        return _asking(command.tool, "plan", language)
    return _done(call, language)


def _no_order(command: ToolCall, said: str, language: Language) -> Interpretation:
    """An action that was only spoken of: how its run or plan stands where that is asked, else a question."""
    about = {name: command.arguments[name] for name in ("run", "plan") if name in command.arguments}
    if about and asks_whether_done(said):
        return _done(ToolCall("show_status", about), language)
    return _asking("help", "order", language)


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
    thin = not parts.known and not _VERBS.search(lowered) and not (factors.keys() - {"model", "dataset"})
    if thin or (not factors and not (parts.searching and parts.loose)):
        reason = "what" if _VERBS.search(lowered) else "unclear"
        return _asking("help" if reason == "unclear" else "plan_experiment", reason, language)
    searching = parts.searching and bool(parts.spans or parts.loose)
    arguments: dict[str, Any] = {"goal": plain}
    if searching:
        ranges: dict[str, list[float | None]] = {name: list(span) for name, span in parts.spans.items()}
        ranges |= {name: [None, None] for name in parts.loose}
        arguments["ranges"] = ranges
        factors = {name: levels for name, levels in factors.items() if name not in ranges}
    arguments["factors"] = factors
    arguments["n_runs"] = _size(factors, bounds, searching=searching)
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
    if searching or (bounds.trials is not None and bounds.strategy in SEARCHES):
        return bounds.trials or 20
    return math.prod(len(levels) for levels in factors.values())


def _recipe(plain: str, vocabulary: Vocabulary) -> str | None:
    """A recipe named as such: `with the digits recipe`, `recipe: digits`."""
    match = re.search(
        r"recipe ?[:=]? ?([\w.-]{1,60})|([\w.-]{1,60}) recipe|([\w.-]{1,60})配方", plain[:_MOST_COMMAND], re.IGNORECASE
    )
    if match is None:
        return None
    name = next(group for group in match.groups() if group)
    known: tuple[RecipeWords, ...] = vocabulary.recipes
    return next((r.name for r in known if name.lower() in {n.lower() for n in (r.name, *r.aliases)}), None)


def _understood(arguments: Mapping[str, Any], language: Language) -> tuple[str, ...]:
    lines = [f"{name}: {', '.join(map(str, levels))}" for name, levels in arguments["factors"].items()]
    lines += [f"{name}: {_end(low)} … {_end(high)}" for name, (low, high) in arguments.get("ranges", {}).items()]
    lines += [f"{name}: {arguments[name]}" for name in ("strategy",) if name in arguments]
    lines += [f"metrics: {', '.join(arguments['metrics'])}"] if "metrics" in arguments else []
    for name in ("limits", "resources"):
        pairs: Mapping[str, Any] = arguments.get(name, {})
        lines += [f"{name}: " + ", ".join(f"{key} {value}" for key, value in pairs.items())] if pairs else []
    lines.append(f"{arguments['n_runs']} 个实验" if language == "zh" else f"{arguments['n_runs']} runs")
    return tuple(lines)


def _end(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _done(call: ToolCall, language: Language) -> Interpretation:
    words = UNDERSTOOD.get(call.tool)
    return Interpretation(call, (words[language == "zh"],) if words else (), (), language)


def _asking(tool: str, what: str, language: Language, arguments: Mapping[str, Any] | None = None) -> Interpretation:
    words = UNDERSTOOD.get(tool)
    understood = (words[language == "zh"],) if words and what in ("run", "plan") else ()
    return Interpretation(ToolCall(tool, arguments or {}), understood, (_ASK[what, language],), language, 0.3)
