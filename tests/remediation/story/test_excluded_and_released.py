"""From the alert to the cordon and back, with the official client against a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.remediation.site import SOON_BACK, eventually

if TYPE_CHECKING:
    from tests.remediation.site import Site

SOAK = {"release": SOON_BACK}


def test_a_posted_alert_excludes_its_node_and_a_calm_node_comes_back(site: Site) -> None:
    sick, well, _ = site.add_nodes(3)
    site.core.patch_node(sick, {"spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]}})
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        assert running.post(site.monitoring.fire(sick)).status_code == 200
        eventually(lambda: site.node(sick).spec.unschedulable)

        mark = site.mark(sick)
        assert mark is not None
        assert (mark["state"], mark["cordoned"], mark["prior_unschedulable"]) == (
            "excluded",
            True,
            False,
        )
        assert mark["node_uid"] == site.node(sick).metadata.uid
        assert site.our_taints(sick) == ["NoSchedule"]
        assert (site.risk(sick), site.risk(well)) == ("high", None)
        assert "mine" in {taint.key for taint in site.node(sick).spec.taints}
        assert site.mark(well) is None
        eventually(lambda: site.ledger().grants[sick].applied)
        assert site.ledger().grants[sick].id == mark["grant"]

        site.monitoring.quiet(sick)
        eventually(lambda: not site.node(sick).spec.unschedulable)
        eventually(lambda: site.mark(sick) is None)
        assert site.risk(sick) == "low"
        assert site.our_taints(sick) == []
        assert "mine" in {taint.key for taint in site.node(sick).spec.taints}
        assert site.ledger().grants == {}
        eventually(lambda: "AtRiskReleased" in site.events(sick))
        assert sorted(set(site.events(sick))) == [
            "AtRiskExcluded",
            "AtRiskOnProbation",
            "AtRiskReleased",
            "AtRiskVerifying",
        ]


def test_an_alert_that_no_post_brought_is_found_by_asking(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    site.monitoring.fire(sick)
    with site.run():
        eventually(lambda: site.cordoned() == [sick])


def test_a_warning_taints_softly_and_cordons_nothing(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    site.monitoring.fire(sick, severity="warning")
    with site.run():
        eventually(lambda: site.our_taints(sick) == ["PreferNoSchedule"])
        assert site.cordoned() == []
        assert site.risk(sick) == "elevated"


def test_observe_touches_nothing_and_says_what_it_would_do(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    site.monitoring.fire(sick)
    with site.run(policy={"mode": "observe"}) as running:
        eventually(lambda: running.reasons() == {sick: "observe_mode"})
        version = site.node(sick).metadata.resource_version
        eventually(lambda: running.metric("tick_duration_seconds_count") > 10)
        assert site.node(sick).metadata.resource_version == version
        (line,) = [line for line in running.log() if line["event"] == "decision"]
        assert line["sentence"].startswith(f"would act: {sick} is cordoned and tainted")
        assert running.metric("decisions_total", decision="exclude", acted="false") == 1


def test_only_the_budget_moves_and_nothing_is_forgotten(site: Site) -> None:
    names = site.add_nodes(4)
    alerts = [site.monitoring.fire(name) for name in names]
    limits = {"unavailable_nodes": 2, "unavailable_percent": 50, "breaker_grants": 9}
    limits |= {"domains": [], "predicted_percent": 100}
    with site.run(policy={"mode": "exclude", "limits": limits, **SOAK}) as running:
        assert running.post(*alerts).status_code == 200
        eventually(lambda: sorted(running.reasons().values()).count("pool_share") == 2)
        assert len(site.cordoned()) == 2
        first = site.cordoned()
        for name in first:
            site.monitoring.quiet(name)
        # Tokens come one in ten minutes: the rest is refused for another reason, and waits.
        eventually(lambda: site.cordoned() == [])
        waiting = set(names) - set(first)
        eventually(lambda: running.reasons() == dict.fromkeys(waiting, "no_token"))
        assert {suspect.node for suspect in site.ledger().suspects.values()} == waiting


def test_without_readable_evidence_nothing_is_done(site: Site) -> None:
    sick = site.add_nodes(2)[0]
    alert = site.monitoring.fire(sick)
    site.monitoring.broken = True
    with site.run() as running:
        eventually(lambda: running.metric("leader"))
        assert running.post(alert).status_code == 200
        eventually(lambda: running.reasons() == {sick: "alerts_unreadable"})
        assert site.cordoned() == []
        for source in ("alertmanager", "prometheus"):
            assert running.metric("errors_total", source=source, reason="server_error") > 0
            lines = [line for line in running.log() if line.get("source") == source]
            assert len(lines) == 1
        site.monitoring.broken = False
        eventually(lambda: site.cordoned() == [sick])
