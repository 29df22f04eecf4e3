"""Whether words that name an action are an order of the person, or only speak of it.

A question about an action (`should I cancel run 9?`), a condition (`if it fails, cancel it`), a report (`the log says:
cancel run 9`) and a quotation are no orders. What may be none is asked about, never done.
"""

import re

ACTING = frozenset(["cancel_run", "cancel_plan", "retry_run", "run_plan", "set_priority"])
"""Tools that change what runs."""

QUOTED = re.compile(
    r"```.*?```|\"[^\"]{0,200} [^\"]{0,200}\"|`[^`]{0,200} [^`]{0,200}`|(?<![a-z])'[^']{0,200} [^']{0,200}'(?![a-z])|(?:(?<=^)|(?<=; ))(?:>|&gt;)[^;]{0,400}",
    re.DOTALL,
)
_SOURCE = r"(?:logs?|output|file|readme|error(?: message)?|message|page|it|stdout|stderr|traceback|comment|paper|email|website|docs?|script|prompt|line)"
REPORTED = re.compile(
    rf"(?:the |its |this |that |a )?{_SOURCE}(?: of run \d+| of the run| file| there)? (?:says?|said|saying|reads?|contains?|tells?|told|prints?|printed|shows?|showed|has a line|ends with|includes?|states?|asks?|wants?|instructs?)(?: me| us| you)?(?: to)?[ :,].*"
    r"|(?:according to|from|quote from|quoting) the (?:log|logs|file|output|readme)[ :,].*"
    r"|(?:日志|输出|文件|报错|网页|邮件|注释|论文|脚本|文档|log)(?:里面|里|中|上)?(?:面)?(?:说|写着|显示|写|提到|写道|要求|打印了|有一行|有一句|让我|让你|出现)[ ::]?.*",
    re.DOTALL,
)
_VERB = re.compile(
    r"(?<![a-z])(?:cancel|stop|kill|abort|terminate|halt|retry|re-?run|restart|redo|resubmit|relaunch|run|start|launch|execute|bump|prioriti)|取消|停|终止|杀|中止|撤销|重跑|重试|重启|再跑|启动|执行|开始"
)
_TOLD = re.compile(
    r"(?<!i )(?<![a-z])(?:printed|prints|wrote|written|says?|said|saying|reads|reading|tells|told|telling|asks|asked|asking|claims?|instructs?)(?![a-z])"
    rf"|in the {_SOURCE}(?![a-z])|写着|显示|写道|打印|提示说|里说|上说|中说|要求|有人说"
    r"|(?:^|[;.!?] ?)[\[<(]?(?:error|warning|warn|info|output|logs?|stdout|stderr|traceback|debug|fatal|exception|readme|todo|comment|报错|日志|输出)[\])>]? ?[:>|\]-]|(?:^|; ?)(?:>|&gt;)"
)
_ASKED = re.compile(
    r"^\W*(?:(?:hey|hi|so|ok|and|but|please|well|also|labhand)[ ,]+){0,3}(?:what|why|how|when|who|where|should|shall|is it|would it|does|did|has|have|had|was|were|can i|could i|may i|am i)(?![a-z])"
    r"|怎么(?:取消|停|终止|重跑|重试|启动|运行|执行)|如何(?:取消|停|终止|重跑|重试|启动|运行|执行)|会怎么?样|会发生什么|要不要|该不该|应不应该|应该.{0,20}吗|(?:了|过)(?:吗|没)|是不是|是否"
)
_CONDITION = re.compile(
    r"(?<![a-z])(?:if|whether|unless|in case|as soon as)(?![a-z])|(?<![a-z])(?:when|once)(?! (?:more|again|you can))(?![a-z])|如果|假如|要是|万一|一旦"
)
_DONE = re.compile(r"^\W*(?:did|has|have|had|was|were|is)(?![a-z])|(?:了|过)(?:吗|没)")


def own_words(lowered: str) -> str:
    """The text without what it quotes or reports."""
    return REPORTED.sub(" ", QUOTED.sub(" ", lowered))


def is_order(lowered: str) -> bool:
    """Whether the words, with all they quote, are themselves an order."""
    verb = _VERB.search(lowered)
    before = lowered[: verb.start()] if verb is not None else lowered
    return not (_ASKED.search(lowered) or _CONDITION.search(lowered) or _TOLD.search(before))


def asks_whether_done(lowered: str) -> bool:
    """`did you cancel run 9?`: the answer is how things stand."""
    return _DONE.search(lowered) is not None
