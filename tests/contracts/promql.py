"""Which metrics a PromQL expression reads, with which labels: a small tokenizer, no evaluator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
    | (?P<range>\[[^\]]*\])
    | (?P<number>(?:\d[\w.]*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[a-zA-Z_:][\w:]*)
    | (?P<sign>=~|!~|!=|==|>=|<=|[^\s\w])
    """,
    re.VERBOSE,
)
GROUPING = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
KEYWORDS = GROUPING | frozenset(
    {"and", "or", "unless", "bool", "offset", "inf", "nan", "start", "end"}
)


@dataclass(slots=True)
class Selector:
    """One metric, with the label matchers on it: label → (operator, value)."""

    metric: str
    matchers: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Reads:
    """What an expression reads, and the labels that it groups or joins by."""

    selectors: list[Selector] = field(default_factory=list)
    grouped_by: set[str] = field(default_factory=set)

    @property
    def metrics(self) -> set[str]:
        """Names of all metrics read."""
        return {selector.metric for selector in self.selectors}


def reads(expr: str) -> Reads:
    """Take an expression apart; raises `ValueError` for a selector without a metric name."""
    tokens = [
        (str(match.lastgroup), match.group())
        for match in TOKEN.finditer(expr)
        if match.lastgroup not in ("comment", "range", "number")
    ]
    found = Reads()
    position = 0
    while position < len(tokens):
        position = _step(tokens, position, found)
    return found


def _step(tokens: list[tuple[str, str]], position: int, found: Reads) -> int:
    kind, text = tokens[position]
    following = tokens[position + 1][1] if position + 1 < len(tokens) else ""
    if text == "{":
        raise ValueError("selector without a metric name")
    if kind != "name":
        return position + 1
    if text.lower() in GROUPING and following == "(":
        end = _closing(tokens, position + 1, ")")
        found.grouped_by |= {label for kind, label in tokens[position:end] if kind == "name"} - {
            text
        }
        return end + 1
    if text.lower() in KEYWORDS or following == "(" or _is_aggregation(tokens, position):
        return position + 1
    selector = Selector(text)
    found.selectors.append(selector)
    if following != "{":
        return position + 1
    end = _closing(tokens, position + 1, "}")
    selector.matchers = _matchers([text for _, text in tokens[position + 2 : end]])
    return end + 1


def _is_aggregation(tokens: list[tuple[str, str]], position: int) -> bool:
    """Tell `max by (node) (x)`, whose name is not followed by a bracket, from a metric."""
    following = tokens[position + 1 : position + 2]
    return bool(following) and following[0][1].lower() in ("by", "without")


def _closing(tokens: list[tuple[str, str]], start: int, sign: str) -> int:
    return next(i for i in range(start, len(tokens)) if tokens[i] == ("sign", sign))


def _matchers(texts: list[str]) -> dict[str, tuple[str, str]]:
    words = [text for text in texts if text != ","]
    return {words[i]: (words[i + 1], words[i + 2].strip("\"'`")) for i in range(0, len(words), 3)}
