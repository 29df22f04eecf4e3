"""Everything that is no plan: a few words that ask for one thing. Rules are tried in order; the first that fits wins."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.offline.lexicon import GPU
from agent.offline.model import ThreadContext, ToolCall
from agent.offline.numbers import WORD_NUMBER, count_of

_RUN = re.compile(
    r"(?:run|experiment|exp|job|task|trial)s?\s*(?:no\.?|number|id)?\s*#?\s*(\d{1,9})(?![\d.])|#\s*(\d{1,9})"
    r"|(\d{1,9})\s*号\s*(?:实验|运行|任务|作业|run|job)?|第\s*(\d{1,9})\s*(?:个|号|次)?\s*(?:实验|运行|任务|run)"
    r"|(?:实验|运行|任务|作业)\s*#?\s*(\d{1,9})\s*号?"
)
_PLAN = re.compile(
    r"(?:plan|sweep|study)\s*(?:no\.?|number|id)?\s*#?\s*(\d{1,9})(?![\d.])|(?:计划|方案)\s*#?\s*(\d{1,9})\s*号?|(\d{1,9})\s*号\s*(?:计划|方案)|第\s*(\d{1,9})\s*个?\s*(?:计划|方案)"
)
_HELLO = re.compile(
    r"(?:hi|hello|hey|yo|good\s+(?:morning|afternoon|evening)|你好|您好|嗨|哈喽|在吗)[\s,!.~]*(?:labhand|there|everyone|all)?[\s,!.~]*"
    r"(?:(?:what\s+can\s+you\s+do|who\s+are\s+you|help|how\s+do\s+(?:i|you)\s+\w+.*|你能做什么|你会什么|怎么用)[\s?!.]*)?|help(?:\s+me)?[\s?!.]*"
    r"|(?:what|how)\s+can\s+(?:you|i)\s+(?:do|help|use).*|what\s+do\s+you\s+do.*|who\s+are\s+you.*|(?:show\s+)?(?:commands|usage|examples)"
    r"|(?:你能|你会|你可以)(?:做|干)(?:些)?什么.*|帮助|怎么用.*|使用说明|thanks?(?:\s+you)?(?:\s+(?:so|very)\s+much|\s+a\s+lot)?[\s!.]*|thx[\s!.]*|谢谢.*|cheers[\s!.]*|great[\s!.]*|nice[\s!.]*"
)
_CANCEL = r"(?:cancel|stop|kill|abort|terminate|end|halt|取消|停止|停掉|停下|终止|杀掉|杀死|中止|结束|停了|撤销)"
_RETRY = r"(?:retry|redo|re-?try|re-?run|re-?start|re-?submit|re-?launch|run\s+again|try\s+again|重试|重跑|重新跑|重新运行|再跑|重新提交|重启)"
_FAILED = r"(?:fail(?:ed|s|ing|ure)?|crash(?:ed|es|ing)?|die[sd]?|dying|broke|broken|error(?:ed)?|oom(?:ed)?|blew\s+up|go(?:ne)?\s+wrong|went\s+wrong|wrong\s+with|explode[sd]?|挂|失败|报错|出错|崩|错误|炸|死)"
_WAITING = r"(?:waiting|pending|queued|in\s+(?:the\s+)?queue|not\s+(?:yet\s+)?(?:start|run|begun)\w*|n['o]t\s+(?:start|run|begun)\w*|stuck|hasn't\s+started|still\s+not|排队|等待|等着|还没(?:有)?(?:开始|跑|启动|运行)|没(?:有)?(?:开始|启动|跑)|不跑|不开始|卡在)"
_WHY = r"(?:why|how\s+come|what\s+(?:happened|went\s+wrong|is\s+wrong|caused|made|killed|broke)|reason|diagnos\w*|explain|investigate|debug|root\s+cause|为什么|为啥|怎么|原因|咋|诊断|分析|排查)"
_PRIORITIES = (
    ("urgent", r"urgent|highest|top\s+priority|最高|紧急|加急"),
    ("low", r"\blow(?:er|est)?\b|down|降低|调低|低优先级|最低|低"),
    ("normal", r"normal|default|正常|普通"),
    ("high", r"\bhigh(?:er)?\b|up|bump|raise|increase|front|first|提高|调高|高优先级|提到|优先|高"),
)


@dataclass(frozen=True)
class Asked:
    """The message in lower case with what it points at: its ids, else those of the thread when it says so."""

    text: str
    context: ThreadContext
    run: int | None
    plan: int | None

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def is_all(self, pattern: str) -> bool:
        return (
            re.fullmatch(
                rf"[\s,!.?~]*(?:please\s+|pls\s+|can\s+you\s+|could\s+you\s+|请|麻烦|帮我)*(?:{pattern})[\s,!.?~]*(?:please|pls|now|thanks|吧|一下|谢谢)*[\s,!.?~]*",
                self.text,
            )
            is not None
        )


Rule = Callable[[Asked], ToolCall | None]


def read_command(lowered: str, context: ThreadContext) -> ToolCall | None:
    """The command that these words are, or `None` when they may be a plan."""
    asked = Asked(lowered, context, _first(_RUN, lowered), _first(_PLAN, lowered))
    for rule in _RULES:
        call = rule(asked)
        if call is not None:
            return call
    return None


def _first(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return next((int(group) for group in match.groups() if group), None) if match is not None else None


def _call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool, {name: value for name, value in arguments.items() if value is not None})


def _run_or_context(asked: Asked) -> int | None:
    return asked.run if asked.run is not None else asked.context.run


def _help(asked: Asked) -> ToolCall | None:
    return _call("help") if re.fullmatch(rf"[\s,!.?]*(?:{_HELLO.pattern})[\s,!.?]*", asked.text) else None


def _audit(asked: Asked) -> ToolCall | None:
    who = r"who\s+(?:approved|denied|cancel+ed|started|stopped|launched|submitted|changed|killed|ran|retried|deleted|edited)|谁(?:批准|取消|启动|停|提交|改|审批|删|跑)"
    if not asked.has(
        rf"audit|审计|操作记录|{who}|what\s+happened\s+(?:to|with|in)\s.*(?:yesterday|today|last|since|between|this)"
    ):
        return None
    user = re.search(r"(?:by|of|from|for|what\s+did)\s+@?([a-z][\w.-]{1,30})(?=\s+do\b|\s*[?.!]|\s*$)", asked.text)
    return _call(
        "show_audit",
        run=asked.run,
        plan=asked.plan,
        user=user[1] if user and user[1] not in ("it", "run", "plan") else None,
    )


def _waiting(asked: Asked) -> ToolCall | None:
    if (asked.has(_WHY) and asked.has(_WAITING)) or asked.has(
        r"when\s+(?:will|does|is)\s.*(?:start|run\s+\d+\s+(?:start|begin))|什么时候(?:能)?(?:开始|跑|轮到)"
    ):
        return _call("why_waiting", run=_run_or_context(asked))
    return None


def _diagnose(asked: Asked) -> ToolCall | None:
    pointed = asked.run is not None or asked.context.run is not None
    if (
        asked.has(_WHY)
        and (asked.has(_FAILED) or asked.has(r"诊断|diagnos"))
        and (pointed or asked.has(r"\bit\b|\bthat\b|它|这个|那个"))
    ):
        return _call("diagnose_run", run=_run_or_context(asked))
    if asked.run is not None and asked.has(
        r"diagnos|诊断|what(?:'s| is| was)?\s+(?:the\s+)?(?:matter|problem|wrong|error|happened)|怎么回事|什么问题|出了什么|啥情况"
    ):
        return _call("diagnose_run", run=asked.run)
    return None


def _retry(asked: Asked) -> ToolCall | None:
    again = asked.has(
        r"(?:run|try|do|launch|start|submit)\s+(?:run\s+|job\s+|experiment\s+)?#?\d+\s+(?:once\s+)?(?:again|over|more)|(?:run|try)\s+(?:it|that)\s+again"
    )
    if not (asked.has(_RETRY) or again):
        return None
    if asked.run is None and asked.context.run is None and not asked.has(r"\bit\b|\bthat\b|它|这个|\brun\b"):
        return None
    return _call("retry_run", run=_run_or_context(asked))


def _log(asked: Asked) -> ToolCall | None:
    if not asked.has(r"\blogs?\b|\blines?\b|\bstdout\b|\bstderr\b|\boutput\s+of\b|\btail\b|日志|输出|最后\S{0,4}行"):
        return None
    if asked.has(r"audit|compare|report\s+\w+|train|log[- ]?(?:scale|spaced|space|uniform|linear)|sweep"):
        return None
    if asked.run is None and asked.context.run is None and not asked.has(r"log|日志"):
        return None
    lines = re.search(
        rf"(?:last|final|first|tail|bottom|-n|--lines|最后|后|末尾|前)\s*({WORD_NUMBER})\s*(?:lines?|行)?|({WORD_NUMBER})\s*(?:lines?|行)",
        asked.text,
    )
    count = count_of(lines[1] or lines[2]) if lines is not None else None
    return _call("show_log", run=_run_or_context(asked), lines=int(count) if count else None)


def _cancel(asked: Asked) -> ToolCall | None:
    if not asked.has(rf"(?<![a-z]){_CANCEL}(?![a-z])"):
        return None
    if (
        asked.has(r"early\s+stop|stop(?:ping)?\s+(?:when|at|if|once)|end\s+of|front\s+end")
        and asked.run is None
        and asked.plan is None
    ):
        return None
    if asked.plan is not None:
        return _call("cancel_plan", plan=asked.plan)
    if asked.run is not None:
        return _call("cancel_run", run=asked.run)
    if asked.has(r"everything|all|plan|全部|所有|计划|方案"):
        return _call("cancel_plan", plan=asked.context.plan)
    if asked.context.run is not None:
        return _call("cancel_run", run=asked.context.run)
    if asked.context.plan is not None and asked.has(r"\bit\b|\bthis\b|\bthat\b|它|这个|^\W*\w+\W*$"):
        return _call("cancel_plan", plan=asked.context.plan)
    return (
        _call("cancel_run")
        if asked.is_all(rf"{_CANCEL}\s*(?:it|that|this|the\s+run|the\s+job|它|这个|那个)?")
        else None
    )


def _priority(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"priorit|\bbump\b|\burgent(?:ly)?\b|优先|加急|紧急|插队|(?:front|top|head)\s+of\s+(?:the\s+)?queue"
    ):
        return None
    level = next((name for name, pattern in _PRIORITIES if re.search(pattern, asked.text)), "high")
    number = re.search(r"priority\s*(?:to|=|of|:)?\s*(-?\d+)", asked.text)
    plan = asked.plan if asked.plan is not None else (asked.context.plan if asked.run is None else None)
    return _call("set_priority", run=asked.run, plan=plan, priority=int(number[1]) if number else level)


def _duplicates(asked: Asked) -> ToolCall | None:
    if asked.has(
        r"duplicat|already\s+(?:been\s+)?(?:run|tried|done)|(?:has|have)\s+(?:this|these|those|it|they|any\s+of\s+(?:this|these))\b.*\bbeen\s+(?:run|tried|done)|run\s+(?:this|these|it)\s+before|重复(?!\d|[一二三四五六七八九十两]|实验)|跑过了吗|做过了吗"
    ):
        if asked.has(r"anyone|anybody|有人|谁"):
            return None
        return _call("find_duplicates", plan=asked.plan if asked.plan is not None else asked.context.plan)
    return None


def _knowledge(asked: Asked) -> ToolCall | None:
    if asked.has(
        r"(?:has|have|had|did)\s+(?:any(?:one|body)|someone|we|you|the\s+lab|people|others)\b|what\s+(?:do|did|have)\s+we\s+(?:know|learn)|(?:learned|know|found\s+out)\s+about"
        r"|which\s+runs?\s+(?:failed|crashed|look|looked|are)\s+(?:like|similar)|any(?:one|body)\s+(?:tried|run|know)|is\s+there\s+(?:any\s+)?(?:prior|previous|past)|(?:best|highest)\s+.*(?:so\s+far|ever|to\s+date)"
        r"|有人(?:试|跑|做|用)过|谁(?:试|跑|做|用)过|之前(?:有|跑|试|做)|以前(?:有|跑|试|做)|我们(?:学到|知道|了解)|有没有(?:人)?(?:试|跑|做)过|学到了什么|跑过.*吗|试过.*吗"
    ):
        return _call("ask_knowledge")
    return None


def _gpus(asked: Asked) -> ToolCall | None:
    kind = re.search(rf"(?<![a-z0-9])({GPU})s?(?![a-z0-9])", asked.text)
    machine = kind is not None or asked.has(r"gpus?|nodes?|cards?|machines?|显卡|卡|节点|机器|服务器")
    asks = asked.has(
        r"who(?:'s|\s+is|\s+are)?\s.*(?:using|on|has|have|holds?|occup|running)|(?:any|are\s+there|is\s+there|what|which|how\s+many|show|list|check|see|whats|what's)\b.*(?:free|available|idle|busy|in\s+use|gpus?\b|nodes?\b)"
        r"|gpu\s+(?:status|usage|utili[sz]ation|availability|load)|(?:free|idle|available)\s+(?:gpus?|cards?|nodes?)|^\s*(?:gpus?|nodes?)\W*$|空闲|谁在用|谁在跑|占用|可用|使用情况|利用率|还有.*(?:卡|gpu|显卡)|nvidia-smi"
    )
    if not (machine and asks) or asked.has(r"hours?|小时|卡时|quota|left\s+this|train|compare|per\s+run"):
        return None
    name = re.sub(r"[ -]+", " ", kind[1]).upper() if kind is not None else None
    return _call("show_gpus", gpu_type=name[:-1] if name and re.fullmatch(r"V\d+S", name) else name)


def _quota(asked: Asked) -> ToolCall | None:
    if asked.has(r"quota|配额|额度") or asked.has(
        r"(?:how\s+(?:many|much)|what).*(?:hours?|gpu|budget|compute|time).*(?:left|remain|used|spent|have|use)|(?:hours?|budget|compute)\s+(?:left|remaining|used)|(?:remaining|left-?over)\s+(?:gpu|compute|budget|hours?)|(?:剩|用了|还有|用掉).*(?:小时|卡时|gpu时)|(?:小时|卡时).*(?:剩|用了|还有)|my\s+usage|usage\s+this\s+month"
    ):
        return _call("show_quota")
    return None


def _watches(asked: Asked) -> ToolCall | None:
    if asked.has(
        r"(?:list|show|what|which|see|my|all|any)\b.*\b(?:watches|monitors|standing\s+(?:rules|jobs)|schedules|scheduled)|有哪些(?:监控|定时|监测|任务计划)|监控列表|定时任务"
    ):
        return _call("list_watches")
    return None


def _digest(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"digest|(?:this|last)\s+week(?:'?s)?\s+(?:summary|report|recap|digest|results)|weekly\s+(?:report|summary|update)|(?:summary|summari[sz]e|recap|report)\s+(?:of|for)?\s*(?:the\s+)?(?:this|last|past|previous)?\s*week|what\s+happened\s+(?:this|last)\s+week|周报|(?:本周|上周|这周)(?:总结|汇总|小结|情况|报告)|(?:总结|汇总)(?:一下)?(?:本周|上周|这周)"
    ):
        return None
    week = "last" if asked.has(r"last|previous|past|上周") else "this" if asked.has(r"this|本周|这周") else None
    scope = "me" if asked.has(r"\bmy\b|\bme\b|我的") else "project" if asked.has(r"project|lab|team|项目|组") else None
    return _call("show_digest", week=week, scope=scope)


def _results(asked: Asked) -> ToolCall | None:
    shown = asked.has(
        r"matrix|矩阵|results?\b|结果|comparison\s+(?:table|chart|plot|figure|picture|of)|对比图|对比表|leaderboard|heat\s*map|summary\s+of\s+plan|总结|scores?\b"
    )
    won = asked.has(
        r"(?:which|what|who)\b.*(?:(?:gave|has|had|got|reached|gives)\b.*(?:best|lowest|highest|smallest|largest|most|least)|won|wins?|is\s+(?:the\s+)?(?:best|better|real|significant)|was\s+(?:the\s+)?best|performed|did\s+best|came\s+out|better|worked\s+best)|is\s+(?:it|that|the\s+difference)\s+(?:real|significant|noise)|哪(?:个|组|种).*(?:最好|更好|最佳|赢|好)|显著"
    )
    asks = (
        asked.has(r"show|post|give|send|plot|draw|display|see|print|get|what|how|where|看|发|贴|画|给|展示|出|显示")
        or asked.plan is not None
    )
    metric = re.search(
        r"(?:by|on|for|in\s+terms\s+of|of)\s+((?:val(?:idation)?\s+|test\s+)?(?:accuracy|loss|f1|bleu|auc|perplexity|time|seconds))\b",
        asked.text,
    )
    compare_plan = asked.plan is not None and asked.has(r"compare|对比|比较|结果|result")
    if (shown and asks and not asked.has(r"train|lr\s*[\d=]|batch|seeds?|跑(?!了|完)")) or won or compare_plan:
        plan = asked.plan if asked.plan is not None else asked.context.plan
        return _call("compare_results", plan=plan, metric=metric[1].replace("validation ", "val ") if metric else None)
    return None


def _queue(asked: Asked) -> ToolCall | None:
    if asked.is_all(
        r"(?:show|list|see|check|view|what's\s+in|whats\s+in|what\s+is\s+in|look\s+at|print)?\s*(?:me\s+)?(?:the\s+|my\s+|our\s+|current\s+)*queue(?:\s+status)?(?:\s+(?:now|right\s+now|look\s+like|like))?|squeue|队列|排队|(?:看|查|显示|查看|看看)(?:一下)?(?:当前|现在)?(?:的)?(?:排队|队列)(?:情况|状态)?"
    ):
        return _call("show_queue")
    if asked.has(r"\bqueue\b|队列|排队") and asked.has(
        r"what|how|show|who|long|look|list|see|running|情况|多少|几个|谁|哪些|看|什么|啥|有"
    ):
        return _call("show_queue")
    if asked.has(
        r"what(?:'s|\s+is|\s+are)?\s+(?:\w+\s+)?(?:running|waiting)(?:\s+(?:now|right\s+now|currently))?\W*$|(?:现在|正在)(?:在)?(?:跑|运行)(?:着)?(?:什么|哪些)|有(?:什么|哪些)(?:任务|实验)在跑"
    ):
        return _call("show_queue")
    return None


def _start(asked: Asked) -> ToolCall | None:
    go = r"(?:run|start|launch|execute|submit|go\s+(?:with|for)|kick\s+off|begin|fire\s+off)"
    if asked.plan is not None and asked.has(rf"(?<![a-z]){go}\b|跑|开始|启动|执行|运行"):
        return _call("run_plan", plan=asked.plan)
    if asked.is_all(
        rf"{go}\s+(?:it|this|that|them|the\s+plan|everything|all)|go(?:\s+ahead)?(?:\s+and\s+{go}\s+it)?|yes|yep|yeah|y|ok(?:ay)?(?:\s*,?\s*(?:go|{go}\s+it))?|do\s+it|looks\s+good(?:\s*,?\s*{go}\s+it)?|lgtm|ship\s+it|sounds\s+good|confirm(?:ed)?|approved?|跑吧|开始(?:吧|跑)?|执行(?:吧)?|运行(?:吧)?|启动(?:吧)?|可以|好的?|就这样(?:跑)?|确认|同意|行"
    ):
        return _call("run_plan", plan=asked.context.plan)
    return None


def _status(asked: Asked) -> ToolCall | None:
    states = asked.has(
        r"status|state\b|progress|how(?:'s|\s+is|\s+are|\s+did|\s+far|s)\b|doing|going|finished|done\s+yet|is\s+(?:run|plan)\s+\d+\s+(?:done|finished|running|ready)|eta|怎么样|进度|状态|进展|跑完|完成了吗|如何|到哪|情况"
    )
    if states and (asked.run is not None or asked.plan is not None):
        return _call("show_status", run=asked.run, plan=asked.plan if asked.run is None else None)
    if asked.is_all(
        r"(?:show|check|get|what(?:'s|\s+is))?\s*(?:me\s+)?(?:the\s+|my\s+|our\s+|current\s+|overall\s+)*(?:status|progress|state)(?:\s+(?:now|update|report))?(?:\s+of\s+(?:my\s+|the\s+|all\s+)*(?:runs|plans|experiments|everything|jobs))?|how\s+do\s+things\s+stand|(?:现在|目前)?(?:跑|运行|进行)得(?:怎么样|如何|怎样)(?:了)?|how(?:'s|\s+is|\s+are)\s+(?:it|things|everything|my\s+runs|the\s+runs|my\s+experiments|the\s+experiments)\s*(?:going|doing|looking)?|are\s+we\s+there\s+yet|进度|状态|进展(?:如何|怎么样)?|怎么样了|(?:现在|目前)?(?:进展|进度|情况)(?:如何|怎么样|怎样)(?:了)?|(?:show|list)\s+(?:my\s+|all\s+)?(?:runs|plans|experiments)|(?:my|all)\s+(?:runs|plans)|sup"
    ):
        return _call("show_status")
    if asked.is_all(r"(?:show\s+(?:me\s+)?)?(?:run|plan)\s*#?\d+"):
        return _call("show_status", run=asked.run, plan=asked.plan if asked.run is None else None)
    return None


def _recipe(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"(?:write|draft|make|create|generate|add|set\s+up|build|init|写|生成|创建|新建|做)\s*(?:me\s+)?(?:an?\s+|the\s+|个|一个|一份|份)?\s*(?:new\s+)?(?:recipe|配方|食谱)"
    ):
        return None
    path = re.search(
        r"(?:for|from|of|给|为|用|根据)\s*(?:the\s+)?(?:script\s+|repo(?:sitory)?\s+)?((?:https?://|git@)\S+|[\w./~-]+\.\w+|[\w.-]+/[\w./-]+|\w[\w-]+)",
        asked.text,
    )
    return _call("draft_recipe", path=path[1] if path else None)


_RULES: tuple[Rule, ...] = (
    _help,
    _recipe,
    _watches,
    _audit,
    _waiting,
    _diagnose,
    _retry,
    _priority,
    _log,
    _cancel,
    _duplicates,
    _quota,
    _knowledge,
    _gpus,
    _digest,
    _results,
    _queue,
    _start,
    _status,
)

UNDERSTOOD: Mapping[str, tuple[str, str]] = {
    "cancel_run": ("cancel a run", "取消一个实验"),
    "cancel_plan": ("cancel a plan", "取消一个计划"),
    "retry_run": ("run a failed run again", "重跑一个实验"),
    "diagnose_run": ("say why a run failed", "说明实验为什么失败"),
    "show_log": ("show a run's log", "查看日志"),
    "why_waiting": ("say why a run waits", "说明为什么在排队"),
    "compare_results": ("show a comparison matrix", "查看对比结果"),
    "set_priority": ("change a priority", "调整优先级"),
    "run_plan": ("start a plan", "开始一个计划"),
}
