"""Everything that is no plan: a few words that ask for one thing. Rules are tried in order; the first that fits wins."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from agent.offline.lexer import count_of
from agent.offline.model import ThreadContext, ToolCall
from agent.offline.patterns import WORD_NUMBER
from agent.offline.pointing import Asked, asked_of
from agent.offline.viewing import VIEWS

_HELLO = re.compile(
    r"(?:hi|hello|hey|yo|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|morning|你好|您好|嗨|哈喽|哈啰|在吗|早上好|早|大家好)[\s,!.~]*(?:labhand|there|everyone|all|folks|team|bot|啊|呀)?[\s,!.~]*"
    r"(?:(?:what can you do|who are you|what are you|what do you do|help|how do (?:i|you) .{1,40}|how are you.{0,20}|你能做(?:些)?什么|你会(?:做)?什么|怎么用|你是谁)[\s?!.]*)?|(?:i need )?help(?: me)?(?: please)?[\s?!.]*"
    r"|(?:what|how) (?:else )?(?:can|could) (?:you|i) (?:do|help|use|ask).{0,60}|what do you do.{0,20}|who are you.{0,20}|what are you(?: able to do| capable of)?\W*|(?:show )?(?:commands|usage|examples|features|capabilities)|how (?:do|does) (?:i|this|it|labhand|one) (?:use|work|get started|start).{0,40}|what commands.{0,40}"
    r"|(?:你|您|你都|你们)(?:能|会|可以)(?:帮我)?(?:做|干)(?:些|点)?(?:什么|啥).{0,10}|(?:你|您)(?:有|支持)(?:什么|哪些)(?:功能|命令|用法).{0,10}|(?:有|支持)(?:什么|哪些)(?:功能|命令).{0,10}|你是谁.{0,5}|帮助|功能|怎么用.{0,10}|怎么使用.{0,10}|如何使用.{0,10}|使用说明|使用方法|用法|介绍一下(?:你)?自己.{0,5}|help/帮助"
    r"|(?:ok |great |awesome |cool |perfect |nice |many )?thanks?(?: you)?(?: (?:so|very) much| a lot| a bunch| again| for .{1,30}| labhand)?[\s!.]*|thx[\s!.]*|ty[\s!.]*|谢谢.{0,10}|多谢.{0,5}|感谢.{0,5}|辛苦了.{0,5}|cheers[\s!.]*|(?:great|nice|good|awesome|cool|well done|perfect|amazing)(?: job| work| one)?[\s!.]*|bye[\s!.]*|goodbye[\s!.]*|再见.{0,3}|拜拜.{0,3}|test(?:ing)?[\s!.]*|ping|\?+"
)
_CANCEL = r"(?:cancel|stop|kill|abort|terminate|end|halt|scancel|shut down|take down|scrap|discard|trash|nuke|pull the plug on|(?:drop|delete|remove)(?= (?:the )?(?:plan|run|job|experiment|sweep) #?\d)|取消|停止|停掉|停下|终止|杀掉|杀死|中止|结束|停了|撤销|干掉|kill掉|关掉|停一下|别跑|cancel掉|撤掉|停)"
_RETRY = r"(?:retry|redo|re-?try|re-?run|re-?start|re-?submit|re-?launch|re-?queue|run again|try again|another (?:try|go|shot) (?:at|for|to)|give .{1,20} another (?:try|go|shot|chance)|重试|重跑|重新跑|重新运行|再跑|重新提交|重启|重新启动|再试一次|再试|重新执行|重新训练一下|再来一次|重来|retry一下)"
FAILED = r"(?:fail(?:ed|s|ing|ure)?(?![a-z])|crash(?:ed|es|ing)?|die[sd]?(?![a-z])|dying|dead|broke(?:n)?(?![a-z])|breaks?(?![a-z])|error(?:ed|s|ing)?(?![a-z])|oom(?:ed|s|'d|ing)?(?![a-z])|out of memory|blew up|blow(?:n)? up|go(?:ne)? wrong|went wrong|wrong with|explode[sd]?|nan(?:s|ed)?(?![a-z])|diverge[ds]?|diverging|segfault(?:ed)?|killed|kaput|borked|挂|失败|报错|出错|崩|错误|炸|死了|死掉|出问题|爆显存|爆了|爆内存|退出|中断|不收敛|发散)"
_WAITING = r"(?:waiting|pending|queued|in (?:the )?queue|(?:not|never|yet to) (?:yet )?(?:start|run|begun|begin|been)\w*|n[o']t (?:yet )?(?:start|run|begun|begin|been start|moving|going|scheduled|launch)\w*|stuck|hasn'?t (?:been )?(?:start|run|begun|launch)\w*|isn'?t (?:it )?(?:start|run|moving)\w*|still not|held up|on hold|blocked|holding|delayed|排队|等待|等着|在等|还在等|还没(?:有)?(?:开始|跑|启动|运行|起来|轮到|动)|没(?:有)?(?:开始|启动|跑|动静|起来)|不跑|不开始|卡在|卡住|不动|迟迟|未(?:开始|启动)|一直(?:在)?等|跑不起来|起不来)"
_WHY = r"(?:why|how come|what(?:'s| is| has|'d)? (?:happened|went wrong|is wrong|wrong|caused|causes|made|makes|killed|kills|broke|blocking|holding|keeping|up with|the reason|the problem|the matter|the cause)|reason|diagnos\w{0,6}|explain|investigate|debug|root cause|cause of|figure out|look into|find out|check (?:out )?what|waiting (?:for|on)|为什么|为啥|怎么|原因|咋|诊断|分析|排查|为何|什么问题|啥问题|什么情况|啥情况|什么毛病|在等什么)"
_LOOK = r"帮我看|看看|看下|查一下|查查"
"""Words of looking, which ask for a cause only where a failure is named."""
_PRIORITIES = (
    ("urgent", r"urgent|highest|top priority|max(?:imum)? priority|asap|最高|紧急|加急"),
    (
        "low",
        r"(?<![a-z])(?:low(?:er|est)?|down|deprioriti[sz]e|less important|can wait|back of)(?![a-z])|降低|调低|低优先级|降|最低|低|不急|靠后|往后",
    ),
    ("normal", r"normal|default|medium|正常|普通|默认"),
    (
        "high",
        r"(?<![a-z])high(?:er)?(?![a-z])|up(?![a-z])|bump|raise|increase|front|first|prioriti[sz]e|boost|提高|调高|高优先级|提到|优先|高|提前|插队",
    ),
)

Rule = Callable[[Asked], ToolCall | None]


def read_command(lowered: str, context: ThreadContext) -> ToolCall | None:
    """The command that these words are, or `None` when they may be a plan."""
    asked = asked_of(lowered, context)
    for rule in (*_RULES, *VIEWS, _start, _failed, _status):
        call = rule(asked)
        if call is not None:
            return call
    return None


def _call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool, {name: value for name, value in arguments.items() if value is not None})


def _help(asked: Asked) -> ToolCall | None:
    return _call("help") if re.fullmatch(rf"[\s,!.?]*(?:{_HELLO.pattern})[\s,!.?]*", asked.text) else None


def _recipe(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"(?:write|draft|make|create|generate|add|set up|build|init|prepare|start|need|写|生成|创建|新建|做|起草|加) ?(?:me |up )?(?:an? |the |个|一个|一份|份)?(?:new )?(?:recipe|配方|食谱)"
        r"|(?:write|draft|make|create|generate|turn|写|生成|创建|起草|把|为|给|根据|用) ?\S{1,120} ?(?:into )?(?:an? )?(?:写|生成|创建|起草|做|变成|做成|转成)? ?(?:一个|一份|个|成)?(?:recipe|配方)|recipe (?:init|for|from)|onboard \S+"
    ):
        return None
    path = re.search(
        r"(?:for|from|of|turn|onboard|init|给|为|用|根据|把|从) ?(?:the |my |our |this )?(?:script |repo(?:sitory)? |file |training script |脚本|仓库)?((?:https?://|git@)[^\s,]{1,200}|[\w./~-]{1,200}\.(?:py|sh|yaml|ipynb|git)|[\w.-]{1,80}/[\w./-]{1,200}|[a-z][\w-]{1,60})",
        asked.text,
    )
    named = re.search(
        r"[\w./~-]{1,200}\.(?:py|sh|ipynb)(?![a-z])|(?:https?://|git@|github\.com)[^\s,的]{1,200}", asked.text, re.ASCII
    )
    if named is not None:
        return _call("draft_recipe", path=named[0])
    if path is None or path[1].split("/")[0] in ("compare", "train"):
        path = None
    return _call("draft_recipe", path=path[1].rstrip(".,?!") if path else None)


def _watches(asked: Asked) -> ToolCall | None:
    if asked.has(
        r"(?:list|show|what|which|see|view|display)(?![a-z]).{0,40}(?<![a-z])(?:watches|monitors|standing (?:rules|jobs)|schedules|scheduled (?:jobs|checks|evaluations|watches)|alerts|watchers)(?![a-z])|^\W*(?:my |all |active |current |the )*(?:watches|monitors|alerts|watchers)\W*$|what(?:'s| is| are)? (?:being |you )?(?:watch|monitor)(?:ed|ing)"
        r"|(?:有|列出|查看|看|显示|看看|看下|看一下)(?:一下)?(?:现在|当前|目前|我)?(?:有)?(?:的)?(?:哪些|什么|所有|全部)?(?:的)?(?:监控|定时|监测|watch|告警|任务计划)|监控列表|定时任务(?:列表)?\W*$|哪些(?:监控|定时|watch)"
    ):
        return _call("list_watches")
    return None


def _audit(asked: Asked) -> ToolCall | None:
    done = r"approv|den(?:y|ied)|reject|cancel|start|stopp|launch|submit|chang|kill|ran(?![a-z])|retr|delet|edit|modif|paus|creat|trigger|touch|request|order|did"
    who = rf"who(?:'s| has| had| the \w{{1,8}}| on earth)? (?:{done})|谁(?:给|把|来|在|昨天|今天)?.{{0,14}}(?:批准|取消|启动|停|提交|改|审批|删|批|拒绝|同意|重跑|杀|提的|发起|创建|跑的|通过)|(?:是)?谁(?:批准|取消|启动|停|提交|改|审批|删|批|拒绝|发起|创建)"
    told = r"audit|审计|操作记录|操作历史|操作日志|变更记录|history of (?:run|plan)|(?:run|plan) \d+'?s? history|change log|changelog|(?:run|plan|实验|计划) ?\d+的(?:历史|记录)"
    happened = r"what(?:'s| has| have)? happened (?:to|with|in|on) .{0,40}(?:yesterday|today|last|since|between|this|overnight|on \w+day)|what did \S{1,30} (?:do|change|run|submit|approve|cancel)|what has \S{1,30} (?:been )?(?:done|doing|changed|approved)|when was (?:run|plan) \d+ (?:approved|cancel|start|submitted|denied)|(?:昨天|今天|昨晚|上周|最近).{0,12}(?:发生了什么|做了什么|干了什么|改了什么|操作)|(?:实验|计划|run|plan) ?\d+(?:昨天|今天|昨晚|上周).{0,6}(?:怎么|发生)"
    if not asked.has(rf"{who}|{told}|{happened}"):
        return None
    if asked.has(r"谁(?:在用|在跑|占)|who (?:is|are) (?:using|running)") and asked.run is None and asked.plan is None:
        return None
    user = re.search(
        r"(?:audit|actions?|operations|changes|everything|log|trail|history|entries|made|done) (?:log |trail )?(?:by|of|from|for) @?([a-z][\w.-]{1,30})|what (?:did|has) @?([a-z][\w.-]{1,30}) (?:do|change|run|submit|approve|cancel|been)",
        asked.text,
    )
    name = next((group for group in user.groups() if group), None) if user else None
    since = re.search(
        r"yesterday|today|last night|overnight|last week|this week|this month|last month|since [\w-]{1,20}|昨天|今天|昨晚|上周|本周|本月|这周",
        asked.text,
    )
    return _call(
        "show_audit",
        run=asked.run,
        plan=asked.plan,
        user=name
        if name
        not in ("it", "run", "plan", "the", "plans", "runs", "anyone", "we", "you", "this", "that", "all", "job")
        else None,
        since=since[0].removeprefix("since ") if since else None,
    )


def _waiting(asked: Asked) -> ToolCall | None:
    if asked.has(r"(?:fail|crash|died)(?:ed|es)?(?![a-z])") and not asked.has(r"pending|queue|排队"):
        return None
    why = (asked.has(_WHY) and asked.has(_WAITING)) or asked.has(
        r"什么时候(?:能|可以|会|才能|才)?(?:开始|跑|轮到|启动)|(?:多久|何时)(?:能|才能|可以)?(?:开始|跑|轮到|启动)|(?:还要|要)(?:等|排)多久"
    )
    when = asked.has(
        r"when (?:will|does|is|can|would|should) .{0,40}(?:start|begin|get (?:a gpu|scheduled|to run)|be scheduled|run(?![a-z] ?\d)|launch)|how (?:long|much longer) (?:until|before|till|will|must|do).{0,40}(?:start|begin|wait|queue)|what(?:'s| is| are) .{0,20}(?:waiting (?:for|on)|blocking|holding up)|(?:ahead of|in front of|before) (?:run|job) \d+|waiting (?:for|on)\W*$"
    )
    if why or when:
        return _call("why_waiting", run=asked.the_run() if asked.points else asked.bare())
    return None


def _diagnose(asked: Asked) -> ToolCall | None:
    bare = asked.bare() if asked.run is None and asked.plan is None else None
    pointed = asked.points or bare is not None
    run = asked.run if asked.run is not None else bare if bare is not None else asked.context.run
    again = asked.has(_RETRY) and not asked.has(r"why|为什么|为啥")
    if (
        asked.has(_WHY)
        and (asked.has(FAILED) or asked.has(r"诊断|diagnos"))
        and (pointed or asked.says_it)
        and not again
    ):
        return _call("diagnose_run", run=run)
    if (
        asked.run is not None
        and not again
        and asked.has(
            r"diagnos|诊断|what(?:'s| is| was|s)? (?:the )?(?:matter|problem|wrong|error|issue|happened|cause)|怎么回事|什么问题|出了什么|啥情况|什么情况|什么毛病|post-?mortem|root cause|debug|troubleshoot|哪里出|啥问题|怎么了|咋了"
        )
        and not asked.has(r"yesterday|last week|昨天")
    ):
        return _call("diagnose_run", run=run)
    return None


def _failed(asked: Asked) -> ToolCall | None:
    """`run 31 OOMed, can you look into it?`: a failure told of a run asks for its cause."""
    asks_how = asked.has(r"^\W*(?:did|is|has|was|does)(?![a-z])|status|progress|进度|状态|(?:了|过)(?:吗|没)")
    told = asked.run is not None and asked.has(FAILED) and not asks_how
    return _call("diagnose_run", run=asked.run) if told else None


def _retry(asked: Asked) -> ToolCall | None:
    again = asked.has(
        r"(?:run|try|do|launch|start|submit|queue) (?:run |job |experiment |exp )?#?\d+ (?:once )?(?:again|over|more)|(?:run|try|do|start|submit) (?:it|that|this)(?: one)? (?:once )?(?:again|over|more)|(?:run|job|experiment) #?\d+ (?:once )?again"
    )
    if not (asked.has(_RETRY) or again) or asked.has(
        r"\bwatch|every |每(?:天|周)|how many (?:times|retries)|max(?:imum)? retries"
    ):
        return None
    near = (
        re.search(rf"(?:{_RETRY}|把|give) ?#?(\d{{1,9}})(?![.\da-z])", asked.text)
        if asked.run is None and asked.plan is None
        else None
    )
    bare = int(near[1]) if near is not None else None
    if (
        asked.run is None
        and asked.context.run is None
        and bare is None
        and not (asked.says_it or asked.is_all(rf"{_RETRY}.{{0,12}}"))
    ):
        return None
    return _call(
        "retry_run", run=asked.run if asked.run is not None else bare if bare is not None else asked.context.run
    )


def _log(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"(?<![a-z])logs?(?![a-z-]| ?(?:scale|spaced|space|uniform|linear|likelihood|loss))|(?<![a-z])lines?(?![a-z])|stdout|stderr|(?<![a-z])output(?:s)? (?:of|from|for)|(?:'s|s) output|(?<![a-z])(?:tail|head|traceback|stack ?trace|console)(?![a-z])|日志|输出|log|最后.{0,6}行|末尾|打印"
    ):
        return None
    if asked.has(
        r"audit|compare|report \w+|train(?![a-z]*ing)|log[- ]?(?:scale|spaced|space|uniform|linear)|sweep|tune|search|grid|(?<![a-z])log (?:the |f1|acc|loss)|审计|操作日志"
    ):
        return None
    bare = _bare_run(asked) if asked.run is None else None
    run = asked.run if asked.run is not None else bare if bare is not None else asked.context.run
    if run is None and not asked.has(r"(?<![a-z])logs?(?![a-z])|日志"):
        return None
    lines = re.search(
        rf"(?:last|final|first|tail|bottom|latest|head|-n|--lines|最后|后|末尾|前|最近|最新|倒数) ?(?:的)?({WORD_NUMBER}) ?(?:log )?(?:lines?|行|条)?|({WORD_NUMBER}) (?:more )?(?:log )?lines?|({WORD_NUMBER}) ?行",
        asked.text,
    )
    count = count_of(next(group for group in lines.groups() if group)) if lines is not None else None
    count = (
        None
        if count is not None and int(count) == run and "line" not in asked.text and "行" not in asked.text
        else count
    )
    pattern = re.search(
        r"(?:grep|search|find|look for|搜索|查找|搜) (?:for )?[\"'`]?([\w./:-]{2,40})[\"'`]? (?:in|from|在)", asked.text
    )
    return _call("show_log", run=run, lines=int(count) if count else None, grep=pattern[1] if pattern else None)


def _bare_run(asked: Asked) -> int | None:
    """`logs 15`, `tail 100 lines of 6`: the number that counts no lines."""
    numbers = [int(n) for n in re.findall(r"(?<![a-z\d.])(\d{1,9})(?![a-z\d.]| ?(?:lines?|行|log))", asked.text)]
    return (
        numbers[-1]
        if numbers
        and asked.plan is None
        and re.search(
            r"(?:logs?|of|for|from|tail|日志|output|stderr|stdout) ?(?:of |for |from )?#?\d+\W*$|^\W*\d+\W*(?:logs?|日志)",
            asked.text,
        )
        else None
    )


def _cancel(asked: Asked) -> ToolCall | None:
    if not asked.has(
        rf"(?<![a-z-]){_CANCEL}(?![a-z-])|取消|停掉|停止|终止|杀掉|中止|撤销|call (?:it|that) off|call off"
    ):
        return None
    unrelated = r"early stop|stop(?:ping)? (?:when|at|if|once|after|early)|end of|front end|end to end|back end|the end\b|end up|weekend|don'?t (?:cancel|stop|kill)|do not (?:cancel|stop|kill)|不要(?:取消|停)|别(?:取消|停)|停(?:车|电|机时间)"
    if asked.has(unrelated) and not (asked.has(r"^\W*(?:cancel|kill|abort)") and (asked.run or asked.plan)):
        return None
    everything = r"everything|(?<![a-z])all(?![a-z])|plan|whole|sweep|study|全部|所有|计划|方案|整个|都"
    if asked.plan is not None and (
        asked.run is None or asked.has(r"(?:everything|all|runs|jobs).{0,20}(?:plan|sweep)")
    ):
        return _call("cancel_plan", plan=asked.plan)
    if asked.run is not None:
        return _call("cancel_run", run=asked.run)
    bare = asked.bare()
    if bare is not None and asked.is_all(rf"{_CANCEL} ?(?:the )?#?\d+(?: ?号)?|(?:把)?#?\d+(?:号)?{_CANCEL}"):
        return _call("cancel_run", run=bare)
    if asked.has(everything):
        return _call("cancel_plan", plan=asked.context.plan)
    if asked.context.run is not None:
        return _call("cancel_run", run=asked.context.run)
    if asked.context.plan is not None and (asked.says_it or asked.is_all(_CANCEL)):
        return _call("cancel_plan", plan=asked.context.plan)
    vague = asked.says_it or asked.is_all(
        rf"(?:把)?(?:the |my |那个|这个|它)?(?:run|job|experiment|实验|任务)?s? ?{_CANCEL} ?(?:the |my )?(?:run|job|experiment|实验|任务|运行)?s?(?:吧|掉)?"
    )
    return _call("cancel_run") if vague else None


def _priority(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"priorit|(?<![a-z])bump(?![a-z])|(?<![a-z])urgent(?:ly)?(?![a-z])|优先|加急|紧急|插队|(?:front|top|head|back) of (?:the )?(?:queue|line)|(?<![a-z])(?:boost|expedite)(?![a-z])|(?:move|push) .{1,20}(?:up|ahead|to the (?:front|top)|first|down)|run \d+ (?:should |must |can )?(?:go|run)? ?(?:first|next|before)|(?:jump|skip) the (?:queue|line)|先跑|排到前面|提前|往后排|can wait(?! for)"
    ):
        return None
    if (
        asked.run is None
        and asked.plan is None
        and asked.context.run is None
        and asked.context.plan is None
        and not asked.has(r"priorit|优先")
    ):
        return None
    if asked.has(
        r"(?<![a-z])(?:seeds?|lr|learning rate|batch|epochs?|dropout|trials?|gpus?|budget|steps)(?![a-z])|种子|学习率"
    ) and not asked.has(r"priorit|优先"):
        return None
    level = next((name for name, pattern in _PRIORITIES if re.search(pattern, asked.text)), "high")
    number = re.search(
        r"(?:priority|优先级)(?: of (?:run|plan) \d+(?!\d))? ?(?:to|=|of|:|at|设为|改为|改成|调到|设成|调成)? ?(-?\d{1,4})(?![\da-z])",
        asked.text,
    )
    to_number = re.search(r"(?:to|=|为|成|到) ?(-?\d{1,4})\W*$", asked.text) if number is None else None
    plan = asked.plan if asked.plan is not None else (asked.context.plan if asked.run is None else None)
    value = number or to_number
    run = asked.run if asked.run is not None or plan is not None else asked.context.run
    return _call("set_priority", run=run, plan=plan, priority=int(value[1]) if value else level)


def _start(asked: Asked) -> ToolCall | None:
    go = r"(?:run|start|launch|execute|submit|go (?:with|for|ahead with)|kick off|begin|fire off|queue up|queue|proceed with|approve|confirm|fire up)"
    if (
        asked.plan is not None
        and asked.run is None
        and (
            asked.has(
                rf"(?<![a-z]){go}(?![a-z])|跑(?!完|得|到|了|的)|开始|启动|执行|运行(?!完|得|到|了|的)|提交|批准|确认|开跑"
            )
            and not asked.has(r"吗\W*$|了没|怎么样|(?:has|have|is|did|does|when|why|how) ")
        )
    ):
        return _call("run_plan", plan=asked.plan)
    if asked.is_all(
        rf"{go} (?:it|this|that|them|(?:the|this|that|my) (?:plan|experiments?|sweep|study|runs)|everything|all|all of (?:it|them)|these|those)(?: all)?|go(?: for it| ahead)?(?:,? (?:and )?{go} (?:it|them|this|that))?|{go}|yes|yep|yeah|yup|y|sure|ok(?:ay)?|(?:yes|ok|okay|yeah|yep|sure|great|perfect|good|fine|lgtm)[ ,.!]*(?:go|go ahead|{go}(?: (?:it|them|this|that))?|do it|please|let's go)|do it|(?:it |that |this )?looks (?:good|great|fine|right|ok)(?:[ ,.!]*(?:to me|go|go ahead|{go} it|ship it))?|lgtm(?:[ ,.!]*{go} it)?|ship it|sounds (?:good|great)|confirm(?:ed)?|approved?|let'?s (?:go|do (?:it|this)|{go} (?:it|this))|fire away|make it so|proceed|send it|that works|all good[ ,]*go"
        r"|(?:就)?跑(?:吧|起来)?|(?:那就)?开始(?:吧|跑|运行)?|开跑|执行(?:吧|它|这个计划)?|运行(?:吧|它)?|启动(?:吧|它)?|提交(?:吧)?|可以(?:的|跑|开始|了)?[ ,]*(?:跑吧|开始吧|开始|执行吧|执行|就这样|跑)?|好(?:的|啊|吧)?[ ,]*(?:跑吧|开始吧|开始|执行|可以|就这样)?|(?:没问题|行|对|嗯|ok|是的)[ ,]*(?:跑吧|开始吧|开始|跑|执行)?|就这样(?:跑|吧)?|就这么(?:跑|办|做)(?:吧)?|确认(?:执行|运行)?|同意|跑(?:一下)?(?:这个|它)(?:计划)?"
    ):
        return _call("run_plan", plan=asked.context.plan)
    return None


def _status(asked: Asked) -> ToolCall | None:
    states = asked.has(
        r"status|(?<![a-z])state(?![a-z])|progress|how(?:'s| is| are| did| far|s|'re| goes| long)(?![a-z])|doing|going|(?<![a-z])(?:finished|finish|complete[d]?|done|ready|running|over|alive|succeeded|succeed|end(?:ed)?)(?![a-z])|(?<![a-z])eta(?![a-z])|^\W*(?:did|is|has|are|was) (?:run|plan|job|experiment)|where (?:is|are)|(?<![a-z])updates?(?![a-z])|check (?:on|in on)|look(?:ing)?(?: at)?|show|怎么样|进度|状态|进展|跑完|完成了|结束了|如何|到哪|情况|咋样|好了(?:吗|没)|成功了|还在跑|跑到|多久|看一下|看看|查看|怎样|完了"
    )
    if states and (asked.run is not None or asked.plan is not None):
        return _call("show_status", run=asked.run, plan=asked.plan if asked.run is None else None)
    bare = asked.bare()
    if bare is not None and asked.is_all(
        r"(?:status|how is|how's|show|progress)(?: of| on)? #?\d+(?: doing| going)?|#\d+"
    ):
        return _call("show_status", run=bare)
    if asked.is_all(
        r"(?:show|check|get|give|what(?:'s| is))? ?(?:me )?(?:the |my |our |current |overall |a )*(?:status|progress|state)(?: now| update| report| check| of things)?(?: (?:of|on|for) (?:my |the |all |our )*(?:runs|plans|experiments|everything|jobs))?|how do things (?:stand|look)|how(?:'s| is| are|s) (?:it|things|everything|my (?:runs?|experiments?|jobs?|plans?)|the (?:runs?|experiments?|jobs?|plan)|our (?:runs|experiments|jobs)|they|that|this) ?(?:all )?(?:going|doing|looking|coming along|getting on)?|are we there yet|what(?:'s| is)? (?:the latest|going on|happening|up)|any (?:updates?|news|progress)(?: on .{1,20})?|(?:give me an? |an? )?update|(?:is|are) (?:it|they|that|my (?:runs?|experiments?)|everything|the runs?|the experiments?) (?:done|finished|ready|running|ok|still running)(?: yet)?|done yet"
        r"|(?:现在|目前|当前|最新|查看|看看|看下|看一下|显示|汇报一下)?(?:我的|所有|全部)?(?:实验|任务)?(?:的)?(?:进度|状态|进展|情况|运行状态|任务状态|实验状态)(?:如何|怎么样|怎样|咋样)?(?:了)?|(?:现在|目前|都|我的)?(?:实验|任务|它|这个)?(?:都)?(?:现在)?(?:跑|运行|进行|做)?(?:得|的)?(?:怎么样|如何|怎样|咋样)(?:了|啦)?|(?:都)?跑完了(?:吗|没有|没)|到哪(?:一步|了)(?:了)?|(?:show|list|see)(?: me)? (?:my |all |the |our |active |running |recent )*(?:runs|plans|experiments|jobs)|(?:my|all|active) (?:runs|plans|jobs|experiments)|(?:runs|plans|jobs)|sup|(?:我的|所有|全部|列出)?(?:实验|计划|任务)(?:列表)?|我(?:有哪些|的)(?:实验|任务|计划)"
    ):
        return _call("show_status", run=asked.context.run if asked.has(r"(?<![a-z])it(?![a-z])|它") else None)
    if asked.is_all(r"(?:show (?:me )?|see |open |看|看看)?(?:run|plan|job|experiment|实验|计划|任务) ?#?\d+(?: ?号)?"):
        return _call("show_status", run=asked.run, plan=asked.plan if asked.run is None else None)
    return None


_RULES: tuple[Rule, ...] = (_help, _recipe, _watches, _audit, _waiting, _diagnose, _retry, _priority, _log, _cancel)

UNDERSTOOD: Mapping[str, tuple[str, str]] = {
    "cancel_run": ("cancel a run", "取消一个实验"),
    "cancel_plan": ("cancel a plan", "取消一个计划"),
    "change_plan": ("change a plan", "修改一个计划"),
    "retry_run": ("run a failed run again", "重跑一个实验"),
    "diagnose_run": ("say why a run failed", "说明实验为什么失败"),
    "show_log": ("show a run's log", "查看日志"),
    "why_waiting": ("say why a run waits", "说明为什么在排队"),
    "compare_results": ("show a comparison matrix", "查看对比结果"),
    "set_priority": ("change a priority", "调整优先级"),
    "run_plan": ("start a plan", "开始一个计划"),
    "add_watch": ("check regularly", "定期检查"),
}
