"""The object by which a drained node is handed to whoever repairs it; as shipped, none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from remediation.policy.bounds.checks import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = frozenset({"node", "uid", "episode", "cause", "horizon", "reason"})
"""What a template may have filled in, each in braces."""

_BRACED = re.compile(r"\{([A-Za-z_]+)\}")
_VERSIONED = re.compile(r"[a-z0-9.-]+/[a-z0-9]+\Z")


class HandoverBar(Part, frozen=True, kw_only=True):
    """A template of one object; with `take_back` it is deleted before the node takes work again."""

    object: dict[str, Any] | None = None
    take_back: bool = True

    def __post_init__(self) -> None:
        if self.object is not None:
            _check(self.object)


def fill(template: Any, words: dict[str, str]) -> Any:
    """Return `template` with every braced word in every text of it filled in."""
    if isinstance(template, dict):
        return {key: fill(value, words) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, words) for value in template]
    if isinstance(template, str):
        return _BRACED.sub(lambda found: words.get(found[1], found[0]), template)
    return template


def _check(template: dict[str, Any]) -> None:
    metadata = _mapping(template.get("metadata"))
    kind, version = template.get("kind"), template.get("apiVersion")
    if not isinstance(version, str) or not _VERSIONED.match(version):
        raise ValueError(f"object.apiVersion is {version!r}, expected group/version")
    if not isinstance(kind, str) or not kind:
        raise ValueError(f"object.kind is {kind!r}, expected the name of a kind")
    name, namespace = metadata.get("name"), metadata.get("namespace", "")
    # A name that two nodes or two tries do not share: what is made twice is made once.
    if not isinstance(name, str) or "{node}" not in name:
        raise ValueError(f"object.metadata.name is {name!r}, expected {{node}} in it")
    if not isinstance(namespace, str) or "{" in namespace:
        raise ValueError(f"object.metadata.namespace is {namespace!r}, expected a name")
    annotations = metadata.get("annotations", {})
    if not isinstance(annotations, dict) or set(map(type, annotations.values())) - {str}:
        raise ValueError(f"object.metadata.annotations is {annotations!r}, expected texts by name")
    unknown = sorted(set(_words(template)) - WORDS)
    if unknown:
        raise ValueError(f"object: {unknown} in braces, expected words among {sorted(WORDS)}")


def _mapping(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _words(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield from _BRACED.findall(template)
        return
    inner = template.values() if isinstance(template, dict) else template
    if isinstance(template, dict | list):
        for value in inner:
            yield from _words(value)
