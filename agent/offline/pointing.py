"""What a command points at: the run or plan whose number it names, else that of the thread when it says “it”."""

import re
from dataclasses import dataclass

from agent.offline.model import ThreadContext

_RUN = re.compile(
    r"(?<![a-z])(?:runs?|experiments?|exps?|jobs?|tasks?|trials?|attempt)[ _-]?(?:no\.?|number|id|num)?[ :]?#?(\d{1,9})(?![a-z\d%]|\.\d)|(?<![a-z\d])r[#-]?(\d{1,9})(?![a-z\d.])"
    r"|(\d{1,9}) ?号? ?(?:实验|运行|任务|作业)|(\d{1,9}) ?号 ?(?:run|job)|(\d{1,9}) ?号(?!机|节点|卡|gpu)|第 ?(\d{1,9}) ?(?:个|号|次)? ?(?:实验|运行|任务|run|作业)"
    r"|(?:实验|运行|任务|作业)(?:编号|号)? ?#?(\d{1,9}) ?号?|(?<![a-z\d#])#(\d{1,9})(?![a-z\d])"
)
_PLAN = re.compile(
    r"(?<![a-z])(?:plans?|sweep|study|studies|matrix|grid)[ _-]?(?:no\.?|number|id|num)?[ :]?(?:for )?(?:plan )?#?(\d{1,9})(?![a-z\d%]|\.\d)|(?:计划|方案)(?:编号|号)? ?#?(\d{1,9}) ?号?|(\d{1,9}) ?号 ?(?:计划|方案)|第 ?(\d{1,9}) ?个? ?(?:计划|方案)|(?<![a-z\d])p[#-]?(\d{1,9})(?![a-z\d.])"
)
_IT = re.compile(
    r"(?<![a-z])(?:it|this|that|this one|that one|them|these|those|its|it's)(?![a-z])|它|这个|那个|这次|(?<![一两三四五六七八九十几哪])该|此|the (?:last |latest |previous |same |failed |current )?(?:run|job|plan|experiment)\b|上一个|刚才|上次"
)
_BARE = re.compile(
    r"(?<![a-z\d.#:@-])#?(\d{1,6})(?![a-z\d%:]|\.\d|-\d| ?(?:lines?|gpus?|hours?|h\b|seeds?|am|pm|times|minutes?|days?|行|个|张|小时|天|次|点|[a-z]\d))"
)


@dataclass(frozen=True)
class Asked:
    """The message in lower case, with the numbers of the run and the plan that it names."""

    text: str
    context: ThreadContext
    run: int | None
    plan: int | None

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def is_all(self, pattern: str) -> bool:
        """Whether the message is that and no more, politeness aside."""
        polite = r"yes |yeah |yep |sure |alright |great |good |perfect |please |pls |plz |can you |could you |would you |can we |hey |hi |ok |okay |just |now |then |so |and |labhand |请|麻烦|帮我|帮忙|给我|再"
        after = (
            r" ?(?:please|pls|plz|now|thanks|thank you|right now|then|already|for me|again|!|吧|一下|谢谢|呢|吗|了|啊)"
        )
        return (
            re.fullmatch(
                rf"[\s,!.?~:]*(?:(?:{polite})[\s,]*){{0,5}}(?:{pattern})(?:[\s,!.?~]*{after}){{0,4}}[\s,!.?~]*",
                self.text,
            )
            is not None
        )

    @property
    def says_it(self) -> bool:
        return _IT.search(self.text) is not None

    @property
    def points(self) -> bool:
        """Whether it names a run, or the thread is about one."""
        return self.run is not None or self.context.run is not None

    def the_run(self) -> int | None:
        return self.run if self.run is not None else self.context.run

    def the_plan(self) -> int | None:
        return self.plan if self.plan is not None else self.context.plan

    def bare(self) -> int | None:
        """A lone number in a short message, which can only be the run that a command is about."""
        numbers = _BARE.findall(self.text)
        return int(numbers[0]) if len(numbers) == 1 and len(self.text) < 50 else None


def asked_of(lowered: str, context: ThreadContext) -> Asked:
    """The message with what it points at."""
    plan, run = _first(_PLAN, lowered), _first(_RUN, lowered)
    return Asked(lowered, context, run, plan)


def plan_named(lowered: str) -> int | None:
    """The number of the plan that is named."""
    return _first(_PLAN, lowered)


def _first(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return next((int(group) for group in match.groups() if group), None) if match is not None else None
