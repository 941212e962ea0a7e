"""Two replicas: whoever hears an alert, the one that leads acts, and at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.remediation.site import eventually

if TYPE_CHECKING:
    from tests.remediation.site import Site

SLOW = {"tick_seconds": 30, "poll_seconds": 30, "watch_seconds": 5}


def test_what_a_follower_hears_the_leader_acts_on_at_once(site: Site) -> None:
    node = site.add_nodes(4)[0]
    with site.run(pace=SLOW) as leader, site.run(pace=SLOW) as follower:
        eventually(lambda: leader.metric("leader") + follower.metric("leader") == 1)
        heard = follower if leader.metric("leader") else leader
        time.sleep(0.5)  # both have ended their first tick and wait half a minute for the next
        began = time.monotonic()
        assert heard.post(site.monitoring.fire(node)).status_code == 200
        eventually(lambda: site.cordoned() == [node], seconds=5)
        assert time.monotonic() - began < 5
        assert heard.metric("steps_total", decision="exclude") == 0


def test_a_human_uncordon_is_noticed_between_two_ticks(site: Site) -> None:
    node = site.add_nodes(4)[0]
    with site.run(pace=SLOW) as running:
        eventually(lambda: running.metric("leader") == 1)
        running.post(site.monitoring.fire(node))
        eventually(lambda: site.cordoned() == [node], seconds=5)
        site.core.patch_node(node, {"spec": {"unschedulable": False}})
        eventually(lambda: site.mark(node) is None and site.our_taints(node) == [], seconds=5)
        assert list(site.ledger().holds) == [node]
