"""What a server says that it offers."""

from __future__ import annotations

from remediation.kube.wire import Part


class ApiVersion(Part, frozen=True, kw_only=True):
    """One version of an API group."""

    version: str = ""


class ApiGroup(Part, frozen=True, kw_only=True):
    """The versions of an API group, as the server prefers them."""

    name: str = ""
    versions: list[ApiVersion] | None = None


class ApiGroups(Part, frozen=True, kw_only=True):
    """Every API group of a server."""

    groups: list[ApiGroup] | None = None


class ApiResource(Part, frozen=True, kw_only=True):
    """One kind that a server offers; `name` is its plural."""

    name: str = ""
    kind: str = ""
    namespaced: bool = False


class ApiResources(Part, frozen=True, kw_only=True):
    """The kinds of one version of a group."""

    resources: list[ApiResource] | None = None
