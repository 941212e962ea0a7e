"""The policy can change while it runs; a bad file changes nothing and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from tests.remediation.site import eventually

if TYPE_CHECKING:
    from tests.remediation.site import Site


def test_a_changed_policy_is_taken_and_a_bad_one_is_not(embedded_site: Site) -> None:
    sick = embedded_site.add_nodes(2)[0]
    embedded_site.monitoring.fire(sick)
    with embedded_site.run(policy={"mode": "observe"}) as running:
        eventually(lambda: running.reasons() == {sick: "observe_mode"})
        document = yaml.safe_load(running.path.read_text("utf-8"))

        running.path.write_text("policy: {mode: full}", "utf-8")
        running.app.reload()
        assert running.metric("settings_reload_success") == 0
        assert any("$.policy.mode" in line.get("error", "") for line in running.log())
        assert embedded_site.cordoned() == []

        document["policy"]["mode"] = "exclude"
        running.path.write_text(yaml.safe_dump(document), "utf-8")
        running.app.reload()
        assert running.metric("settings_reload_success") == 1
        eventually(lambda: embedded_site.cordoned() == [sick])
