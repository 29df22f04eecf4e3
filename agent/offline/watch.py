"""Standing watches: a schedule, what to look at, and what to do when it drops."""

import re
from typing import Any

from agent.offline.lexer import Number, clean, count_of, parse_number
from agent.offline.lexicon import metrics_table
from agent.offline.model import ToolCall
from agent.offline.parts import Parts
from agent.offline.patterns import LITERAL, WORD_NUMBER

_DAYS = {
    "mon": r"mon(?:day)?s?|(?:周|星期|礼拜)一",
    "tue": r"tue(?:s(?:day)?)?s?|(?:周|星期|礼拜)二",
    "wed": r"wed(?:nesday)?s?|(?:周|星期|礼拜)三",
    "thu": r"thu(?:rs(?:day)?)?s?|(?:周|星期|礼拜)四",
    "fri": r"fri(?:day)?s?|(?:周|星期|礼拜)五",
    "sat": r"sat(?:urday)?s?|(?:周|星期|礼拜)六",
    "sun": r"sun(?:day)?s?|(?:周|星期|礼拜)[日天]",
}
_EVERY = re.compile(
    r"\b(?:every|each)\s+(?:other\s+)?(?:\d+\s+|two\s+|three\s+|four\s+|six\s+|twelve\s+)?(?:mon|tue|wed|thu|fri|sat|sun|day|morning|night|evening|week|weekday|weekend|month|hour|hours|days|weeks|minutes)"
    r"|\b(?:daily|weekly|monthly|hourly|nightly|biweekly|(?:on\s+)?weekdays|(?:on\s+)?weekends|(?:on\s+)?workdays|workday\s+mornings|periodically|regularly)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
    r"|每(?:天|日|周|星期|个?月|小时|晚|早|个?工作日|隔|\d+|[一二两三四五六七八九十])|定期|周期性"
)
_LOOKS = re.compile(
    r"(?:ping|alert|notify|warn|tell|message) (?:me|us)|通知|提醒|报警|告诉我|evaluat|\btest\b|check|monitor|watch|validat|score|benchmark|re-?train|measure|run\b|评估|测试|检查|监控|监测|验证|重新训练|重训|再训练|跑"
)
_DROP = re.compile(
    rf"(?:drop(?:s|ped)?|falls?|fell|decreases?|declines?|degrades?|worsens?|goes\s+down|goes\s+up|gets\s+worse|rises?|increases?|climbs?|dips?|slips?|loses?|lowers?|regress(?:es)?|下降|降低|下跌|下滑|掉|跌|减少|降|上升|升高|变差|恶化|退化)(?:了)?\s*(?:by\s+)?(?:more\s+than\s+|over\s+|at\s+least\s+|>=?\s*|超过|大于|多于|达到|至少)?\s*"
    rf"(?P<value>{LITERAL}|{WORD_NUMBER})\s*(?P<unit>%|percent(?:age)?(?:\s+points?)?|pct|points?|pts?|pp|个?百分点|点|个点)?"
    rf"|(?P<value2>{LITERAL})\s*(?P<unit2>%|percent|points?|个?百分点)?\s*(?:drop|decrease|fall|decline|的?(?:下降|下跌))"
)
_FLOOR = re.compile(
    rf"(?:drops?|falls?|goes|is|gets|低于|跌破|小于|降到)\s*(?:below|under|beneath|less\s+than|以下)?\s*(?P<value>{LITERAL})\s*%?(?:以下)?"
)
_TIME = re.compile(
    r"(?:at|@|on)?\s*(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)|(?:at|@)\s*(?P<hour2>\d{1,2})(?::(?P<minute2>\d{2}))?(?![\d%])"
    r"|(?<![\d.])(?P<hour3>\d{1,2}):(?P<minute3>\d{2})(?!\d)"
    r"|(?P<part>早上|上午|凌晨|中午|下午|晚上|夜里)?\s*(?P<hour4>\d{1,2}|[一二两三四五六七八九十]{1,3})\s*(?:点|时)(?:(?P<minute4>\d{1,2})分?|(?P<half4>半))?"
    r"|\b(?P<noon>noon|midnight)\b"
)


def read_watch(text: str, parts: Parts) -> ToolCall | None:
    """The watch that the message asks for, or `None`: it needs a rhythm and something to look at."""
    if not (_EVERY.search(text) and _LOOKS.search(text)) and not re.search(
        r"(?:set\s+up|add|create|加|设)\s*(?:an?\s+|个|一个)?(?:watch|monitor|监控)", text
    ):
        return None
    arguments: dict[str, Any] = {"schedule": read_schedule(text)}
    metric = _metric(text)
    drop = _drop(text)
    if metric is not None or drop:
        arguments["metric"] = metric or "accuracy"
    arguments |= drop
    arguments["action"] = "retrain" if re.search(r"re-?train|重新训练|重训|再训练|再次训练|微调", text) else "tell"
    for name in ("model", "dataset"):
        levels = parts.factors.get(name)
        arguments |= {name: levels[0]} if levels else {}
    return ToolCall("add_watch", arguments)


def read_schedule(text: str) -> dict[str, Any]:
    """`{day_of_week, hour, minute}`, `{every: week}`, `{every: hour, count: 6}`, `{day: 1, …}`; only what was said."""
    schedule: dict[str, Any] = {}
    days = [day for day, pattern in _DAYS.items() if re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])", text)]
    counted = re.search(
        rf"(?:every|each|每隔|每)\s*({WORD_NUMBER})\s*(?:个)?\s*(hours?|days?|weeks?|minutes?|months?|小时|天|周|分钟|月)",
        text,
    )
    count = count_of(counted[1]) if counted is not None else None
    if re.search(r"weekdays?|every\s+(?:work|business)\s*day|工作日", text):
        schedule["day_of_week"] = "mon-fri"
    elif re.search(r"weekends?|周末", text):
        schedule["day_of_week"] = "sat,sun"
    elif days:
        schedule["day_of_week"] = ",".join(days)
    elif counted is not None and count is not None and count != 1:
        schedule |= {"every": _unit(counted[2]), "count": int(count)}
    else:
        schedule["every"] = _rhythm(text)
    day = re.search(r"(?:on\s+)?the\s+(\d{1,2})(?:st|nd|rd|th)|每月(\d{1,2})[号日]", text)
    if day is not None:
        schedule["day"] = int(day[1] or day[2])
        schedule["every"] = "month"
    return schedule | _time(text)


def _rhythm(text: str) -> str:
    for unit, pattern in (
        ("hour", r"hourly|every\s+hour|each\s+hour|每(?:个)?小时"),
        ("month", r"monthly|every\s+month|each\s+month|每(?:个)?月"),
        ("week", r"weekly|every\s+week|each\s+week|once\s+a\s+week|每(?:个)?(?:周|星期)"),
        (
            "day",
            r"daily|nightly|every\s+(?:day|morning|night|evening)|each\s+(?:day|morning|night)|once\s+a\s+day|每(?:天|日|晚|早)",
        ),
    ):
        if re.search(pattern, text):
            return unit
    return "week"


def _unit(word: str) -> str:
    chinese = {"小": "hour", "天": "day", "周": "week", "分": "minute", "月": "month"}
    return chinese.get(word[:1], word.rstrip("s"))


def _time(text: str) -> dict[str, int]:
    for match in _TIME.finditer(text):
        if match["noon"]:
            return {"hour": 12 if match["noon"] == "noon" else 0, "minute": 0}
        hour_text = next((match[f"hour{n}"] for n in ("", "2", "3", "4") if match[f"hour{n}"]), None)
        minute_text = next((match[f"minute{n}"] for n in ("", "2", "3", "4") if match[f"minute{n}"]), None)
        hour = count_of(hour_text) if hour_text else None
        if hour is None or hour > 24:
            continue
        minute = 30 if match["half4"] else int(minute_text or 0)
        late = (match["half"] or "").startswith("p") or match["part"] in ("下午", "晚上", "夜里")
        hour = (
            int(hour) % 12 + 12
            if late and hour <= 12
            else 0
            if (match["half"] or "").startswith("a") and hour == 12
            else int(hour)
        )
        return {"hour": hour % 24, "minute": minute}
    return {}


def _drop(text: str) -> dict[str, Any]:
    match = _DROP.search(text)
    if match is None:
        floor = _FLOOR.search(text)
        if floor is None:
            return {}
        value = _value(floor["value"]) or 0
        return {"below": round(value / 100, 6) if value > 1 else value}
    raw = match["value"] or match["value2"]
    unit = match["unit"] or match["unit2"] or ""
    value = _value(raw)
    if value is None:
        return {}
    share = value / 100 if value >= 1 or (unit not in ("",) and not raw.endswith("%") and value > 0.2) else value
    found: dict[str, Any] = {"drop": round(share, 6)}
    if re.search(r"point|pts?|pp|百分点|点", unit):
        found["relative"] = False
    return found


def _metric(text: str) -> str | None:
    for name, aliases in metrics_table():
        for alias in aliases:
            if re.search(rf"(?<![a-z0-9-]){re.escape(alias)}(?![a-z0-9-])", text):
                return name
    return None


def _value(text: str) -> Number | None:
    if text[:1].isdigit():
        value = parse_number(text.rstrip("%"))
        return clean(value / 100) if text.endswith("%") else value
    return count_of(text)
