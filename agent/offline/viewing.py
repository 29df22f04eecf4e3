"""Commands that only look: machines, quota, queue, results, knowledge, digests."""

import re
from collections.abc import Callable
from typing import Any

from agent.offline.model import ToolCall
from agent.offline.patterns import GPU
from agent.offline.pointing import Asked


def _call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool, {name: value for name, value in arguments.items() if value is not None})


def _duplicates(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"duplicat|redundant|(?:already|previously) (?:been )?(?:run|tried|done|ran)|(?:has|have) (?:this|these|those|it|they|any of (?:this|these|them|the)|plan \d+|some of)(?![a-z]).{0,30}been (?:run|tried|done)|run (?:this|these|it|plan \d+) before|did (?:we|anyone) (?:already )?(?:run|do) (?:this|these|plan \d+)|(?:same|identical) (?:as|runs|experiments|plan)|重复(?!\d|[一二三四五六七八九十两]|实验|跑|次)|跑过了吗|做过了吗|(?:已经|之前|以前)(?:跑|做)过(?:了|的)?(?:吗)?\W*$|查重|有没有重复"
    ):
        return None
    if asked.has(r"anyone|anybody|someone|somebody|有人|谁|compare|train|with lr") and not asked.has(r"duplicat"):
        return None
    return _call("find_duplicates", plan=asked.the_plan())


def _quota(asked: Asked) -> ToolCall | None:
    if asked.has(r"(?<![a-z])train|compare|sweep|per run|比较|对比|训练|微调") and not asked.has(
        r"quota|left|配额|额度"
    ):
        return None
    said = r"(?<![a-z])quotas?(?![a-z])|配额|额度|限额|allowance|(?:my|our|team|project|lab)(?:'s)? (?:gpu |compute )?(?:usage|budget|consumption|spend(?:ing)?)|usage (?:this|last|so far|for) (?:month|week|project)|gpu usage this|credits?(?![a-z])"
    asks = r"(?:how (?:many|much)|what).{0,40}(?:hours?|gpu|budget|compute|time|quota)(?![a-z]).{0,40}(?:left|remain|used|spent|burn|have i|have we|consum|use (?:this|so far)|available to me|did (?:i|we)|do (?:i|we) have)|how (?:many|much).{0,30}(?:used|burn(?:ed|t)?|spent|consumed|left|remain).{0,30}|(?:hours?|budget|compute) (?:left|remaining|used|spent)|(?:remaining|left-?over) (?:gpu|compute|budget|hours?)|am i (?:over|out of|close to)|running out of (?:hours|budget|compute)"
    chinese = r"(?:剩|用了|还有|用掉|花了|还能用|还能跑|还可以用|还可以跑|消耗|用完|可用).{0,10}(?:小时|卡时|gpu时|机时|时长|算力|额度|预算)|(?:小时|卡时|机时|时长|算力|预算).{0,10}(?:剩|用了|还有|花了|消耗|够|用完|多少)|(?:用|花|剩)(?:了|下)?多少(?:gpu|算力|卡时|小时|机时)"
    lines = asked.has(r"(?<![a-z])lines?(?![a-z])|free gpu|空闲")
    return _call("show_quota") if not lines and asked.has(rf"{said}|{asks}|{chinese}") else None


def _knowledge(asked: Asked) -> ToolCall | None:
    people = (
        r"(?:any(?:one|body)(?: here| else| in the lab)?|someone|somebody|we|the lab|people|others|the team|our group)"
    )
    past = rf"(?:has|have|had|did) {people} (?:ever |already |previously |yet |actually )?(?:tr|run|ran|train|us|test|benchmark|compar|finetun|fine-tun|do|done|see|seen|learn|find|found|look|work|experiment|get|got|evaluat|play|manage|succe|have|had|sweep|swept|tune|hit)"
    learned = r"what (?:do|did|have|has) (?:we|you|the lab|the team)(?: already)? (?:know|learn|find|found|see|seen|observe|discover|remember)|what(?:'s| is) known about|(?:learned|learnt|know|known|found out|remember|knowledge|lessons|insights|findings) (?:about|on|from|of|regarding)|tell me what we know|any(?:thing)? (?:known|knowledge|experience|insights?|lessons|findings|prior (?:work|runs|results)|history|previous)|do we know|our experience with"
    other = r"which (?:runs?|experiments?) (?:failed|crashed|look|looked|are|have|had|used|were|did) (?:like|similar|the same|with|this)|any(?:one|body) (?:tried|run|know|have|ever|got|seen|used)|is there (?:any )?(?:prior|previous|past)|(?:best|highest|lowest|record|top).{0,40}(?:so far|ever|to date|in the lab|we have (?:had|seen|got)|we've (?:had|seen|got|ever))|(?:similar|like) (?:failures?|runs?|errors?|cases) (?:before|in the past)|what (?:lr|learning rate|batch size|settings?|hyperparameters?|optimizer|config\w*|temperature|dropout|weight decay|value|values) (?:usually |normally |typically |generally |has |have )?(?:work(?:s|ed)?|is (?:best|good|recommended)|should (?:i|we) use|did we use|do (?:we|you|people)|was (?:best|used)|would you|to use|makes sense)|(?:recommend|suggest)(?:ed|ation)? .{0,30}(?:lr|learning rate|batch|setting|hyperparam|config|optimizer)|usually (?:work|use|fail)"
    chinese = r"(?:有人|有没有人|有谁|谁)[^,;?]{0,24}(?:跑|试|做|用|测|训练|微调|调|比较|对比)过|(?:有|谁|有没有|有谁)(?:人|同学|同事|别人)?(?:之前|以前|曾经|已经)?(?:试|跑|做|用|测|训练|调|比较|对比)过|(?:之前|以前|曾经)(?:有人|有|我们|谁)?(?:跑|试|做|用|训练|测)过|(?:我们|大家|实验室|组里)(?:之前|以前|已经|都|对)?.{0,10}(?:学到|知道|了解|发现|总结|得出|经验|有什么结论)|学到了?(?:什么|啥|哪些)|(?:跑|试|做|用|训练)过.{0,20}(?:吗|没有|没)\W*$|(?:一般|通常|推荐|建议)(?:用|取|设|设置|是)?.{0,10}(?:多少|什么|哪个)|有什么(?:经验|结论|发现|已知)|目前(?:最好|最高|最优|最佳)|历史(?:最好|最佳|最高)|(?:最好|最高)的.{0,8}(?:是多少|是什么).{0,2}$|有(?:哪些|什么)(?:类似|相似)"
    if asked.has(rf"{past}|{learned}|{other}|{chinese}") and asked.plan is None:
        return _call("ask_knowledge")
    return None


def _gpus(asked: Asked) -> ToolCall | None:
    kind = re.search(rf"(?<![a-z0-9])({GPU})s?(?![a-z0-9])", asked.text)
    machine = kind is not None or asked.has(
        r"gpus?(?![a-z])|(?<![a-z])(?:nodes?|cards?|machines?|servers?|cluster|hardware)(?![a-z])|显卡|卡|节点|机器|服务器|集群"
    )
    asks = asked.has(
        r"any(?:one|body)(?: else)? (?:on|using|running on)(?![a-z])|(?:who|what)(?:'s| is| are|se| has)? .{0,40}(?:using|eating|clogging|blocking|hoarding|consuming|on|has|have|holds?|holding|occup|running|hogging|got|taking|taken)|(?:any|are there|is there|what|which|how many|how busy|show|list|check|see|whats|what's|do we have|got|have|where)(?![a-z]).{0,40}(?:free|available|avail|idle|busy|in use|taken|unused|open|gpus?(?![a-z])|nodes?(?![a-z])|load|occupied|utili[sz])|gpu (?:status|usage|utili[sz]ation|availability|load|info|state|inventory|overview)|(?:free|idle|available|unused) (?:\w+ )?(?:gpus?|cards?|nodes?|[ahv]\d+s?|machines?)|^\W*(?:gpus?|nodes?|cluster)(?: (?:status|state|load))?\W*$|nvidia-smi|any(?:thing|body)? (?:free|idle|available)|有(?:没有)?(?:空)?(?:卡|显卡|gpu|机器)(?:吗|没有|没|用)|(?:gpus?|nodes?|cards?|s) (?:free|available|idle|busy|in use)|cluster (?:status|load|usage|state|busy|full|free)|(?:is|are) (?:the |our |any |all )?(?:the )?(?:cluster|gpus?|nodes?|machines?|cards?|[ahv]\d+s?) (?:busy|free|full|idle|available|down|up|taken|in use)(?![a-z])|空闲|有空|空吗|空不空|闲着|空着|空余|谁在用|谁在跑|谁占|占用|可用|使用情况|利用率|使用率|负载|还有.{0,10}(?:卡|gpu|显卡|[ahv]\d+)|被谁|有(?:几|多少)(?:张|块|个)|空的|gpu状态|显卡状态|集群状态|忙不忙|忙吗|满了吗|在用.{0,8}(?:吗)?$"
    )
    planning = r"hours?(?![a-z])|小时|卡时|quota|left this|(?<![a-z])train(?!ing)|compare|per run|sweep|finetune|fine-tune|seeds|lr(?![a-z])|比较|对比|训练一|微调"
    if not (machine and asks) or asked.has(planning):
        return None
    name = re.sub(r"[ -]+", " ", kind[1]).upper() if kind is not None else None
    if name is not None and name.isdigit():
        name = f"RTX {name}"
    return _call("show_gpus", gpu_type=name)


def _digest(asked: Asked) -> ToolCall | None:
    if not asked.has(
        r"digest|(?:this|last|past|previous) week(?:'?s)?(?: in (?:the )?(?:lab|review))?(?: (?:summary|report|recap|digest|results|review|highlights|progress))|weekly (?:report|summary|update|digest|recap|review)|(?:summary|summari[sz]e|recap|report|overview|review|highlights|round-?up|sum up|wrap-?up).{0,20}(?:of|for|on|from|what (?:we|happened))?.{0,16}(?:this|last|past|previous|the) week|(?:the )?week in (?:review|the lab)|what (?:happened|did (?:we|the (?:lab|team))|was done|got done|have we|has (?:the lab|everyone)).{0,24}(?:this|last|past|previous) week|(?:daily|monthly) (?:summary|report|digest|recap)|周报|月报|日报|(?:本周|上周|这周|这个星期|上个星期|这一周|过去一周)的?(?:实验|工作|进展|项目)*(?:总结|汇总|小结|情况|报告|概况|回顾|进展|摘要|做了(?:什么|哪些))|(?:总结|汇总|回顾)(?:一下|下)?(?:本周|上周|这周|这个星期|上个星期|过去一周)"
    ):
        return None
    week = (
        "last"
        if asked.has(r"last|previous|past|上周|上个")
        else "this"
        if asked.has(r"this|本周|这周|这个|current")
        else None
    )
    scope = (
        "me"
        if asked.has(r"(?<![a-z])(?:my|mine|i)(?![a-z])|我的|我自己")
        else "project"
        if asked.has(r"project|lab(?!hand)|team|everyone|group|项目|组|实验室|大家")
        else None
    )
    return _call("show_digest", week=week, scope=scope)


def _results(asked: Asked) -> ToolCall | None:
    shown = asked.has(
        r"(?<![a-z-])(?:matrix|results?|outcomes?|findings|numbers)(?![a-z])|矩阵|结果|comparison (?:table|chart|plot|figure|picture|of|matrix|for)|对比图|对比表|leaderboard|heat ?map|summary of plan|(?:summari[sz]e|compare|plot|chart|table (?:of|for)|ranking|rank|scoreboard|figure|curves? (?:of|for)) (?:the )?(?:runs (?:of|in) )?plan|总结|scores?(?![a-z])|比较图|图表|排名|排行|表格"
    )
    won = asked.has(
        r"(?:which|what|who)(?![a-z]).{0,60}(?:(?:gave|has|had|got|reached|gives|achieved|with|reach|produced|shows?|showed)(?![a-z]).{0,30}(?:best|lowest|highest|smallest|largest|most|least|fastest)|(?<![a-z])won|wins?(?![a-z])|is (?:the )?(?:best|better|real|significant|winner|winning|ahead|fastest)|was (?:the )?(?:best|better|fastest|winner)|performed|performs|did (?:best|better)|came out|does better|does best|(?<![a-z])better(?![a-z])|worked best|works best|the winner|comes? out (?:on top|ahead|first))|what(?:'s| is| was) (?:the )?(?:best|winner|winning|top)|(?:is|was|are) (?:it|that|this|the (?:difference|gap|gain|improvement|result|effect|win)|they|these|those) (?:actually |really |statistically |even )?(?:real|significant|noise|different|meaningful|within noise)|(?:significan(?:t|ce)|statistically)|best (?:config|run|setting|model|cell|combination|lr|hyperparam\w*)(?:uration|s)?(?: (?:in|of|from|so far))|哪(?:个|组|种|一个|一组|些).{0,16}(?:最好|更好|最佳|赢|好|最高|最低|最优|胜出|效果|更高|强)|显著|(?:最好|最佳|最优)的?(?:配置|参数|模型|结果|一组)|谁(?:赢|更好|最好)|差(?:异|别|距)(?:是)?(?:真|显著|大)"
    )
    asks = asked.plan is not None or asked.has(
        r"show|post|give|send|plot|draw|display|(?<![a-z])see|print|get|what|how|where|any(?![a-z])|看|发|贴|画|给|展示|出|显示|^\W*(?:the |my |our )?(?:results?|matrix|结果|对比结果|矩阵)|怎么样|如何|总结"
    )
    metric = re.search(
        r"(?:by|on|for|in terms of|of|using|按|看) ?(?:the )?((?:val(?:idation)? |test |top-\d )?(?:accuracy|acc|loss|f1|bleu|auc|auroc|perplexity|miou|map|fid|latency|throughput|wer|rouge|time|seconds|准确率|损失|困惑度))(?![a-z])",
        asked.text,
    )
    compare_plan = (
        asked.plan is not None
        and asked.run is None
        and asked.has(r"(?<![a-z])compar|对比|比较|结果|result|总结|summar")
    )
    planning = asked.has(
        r"(?<![a-z])train(?![a-z]*ing loss)|lr ?[\d=]|seeds?(?![a-z]) (?!won|is)|(?<![\d\w])\d+ seeds|跑(?!了|完|出|得|的|过)|(?<![a-z])on (?:cifar|imagenet|mnist|digits)|gpus? per"
    )
    if (shown and asks and not planning) or (won and not planning) or compare_plan:
        return _call(
            "compare_results",
            plan=asked.the_plan(),
            metric=metric[1].replace("validation ", "val ") if metric else None,
        )
    return None


def _queue(asked: Asked) -> ToolCall | None:
    if asked.is_all(
        r"(?:show|list|see|check|view|display|what's in|whats in|what is in|look at|print|how's|how is|how does|open)? ?(?:me )?(?:the |my |our |current |job |gpu |run |full )*queue(?: status| length| position)?(?: (?:now|right now|look like|like|look|look like now|look right now|doing|today|at the moment))?|squeue|队列|排队(?:情况|列表)?|(?:看|查|显示|查看|看看|看下|列出)(?:一下)?(?:当前|现在)?(?:的)?(?:任务|作业)?(?:排队|队列)(?:情况|状态|列表)?|(?:任务|作业|当前|现在的?)队列"
    ):
        return _call("show_queue")
    if (
        asked.run is None
        and asked.has(r"(?<![a-z])(?:queue|backlog|line)(?![a-z])|queued|队列|排队|排着")
        and asked.has(
            r"(?<![a-z])(?:what|how|show|who|long|look|list|see|running|many|anything|any|is|whose|when|where)(?![a-z])|what's|whats|who's|情况|多少|几个|谁|哪些|看|什么|啥|有|多长|长吗"
        )
    ):
        return _call("show_queue")
    if asked.has(
        r"(?:what|who|(?:which|what) (?:runs?|jobs?|experiments?))(?:'s|s| is| are)? (?:\w+ )?(?:(?:currently|now|still|being) )?(?:running|waiting|executing|active|pending|queued)(?: (?:now|right now|currently|at the moment|today|on the cluster))?\W*$|^\W*(?:show |list )?(?:all |the |my )?(?:running|pending|waiting|queued|active) (?:jobs|runs|experiments)\W*$|how many (?:runs|jobs|experiments) (?:are )?(?:running|waiting|pending|queued)|anything running|what am i running|(?:现在|正在|目前|当前)(?:都)?(?:在)?(?:有)?(?:跑|运行)(?:着)?(?:的)?(?:什么|哪些|是什么|几个|多少)|有(?:什么|哪些|几个|多少)(?:任务|实验|作业|run)?(?:在|正在)(?:跑|运行|排队|等)|(?:在跑|正在跑|正在运行|在排队)的(?:任务|实验|作业|run)|谁(?:在跑|在排队)(?:实验|任务)?\W*$|现在在跑什么"
    ) and not asked.has(rf"(?<![a-z0-9]){GPU}s?(?![a-z0-9])|gpu|显卡"):
        return _call("show_queue")
    return None


VIEWS: tuple[Callable[[Asked], ToolCall | None], ...] = (
    _duplicates,
    _quota,
    _gpus,
    _knowledge,
    _digest,
    _queue,
    _results,
)
