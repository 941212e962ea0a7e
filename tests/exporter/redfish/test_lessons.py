"""What others learnt from BMCs in public threads, lesson by lesson, and the test that holds it.

Numbers are those of our own list of 28; the lesson is said in a few words.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sources import redfish as spell

TESTS = Path(__file__).resolve().parents[2]
BMC, PLANT, APP = "exporter/redfish", "exporter/facility", "exporter/app"
LESSONS: dict[int, tuple[str, str, str]] = {
    1: ("full slots are no overload", f"{BMC}/test_session.py", "full_session_slots_mean_basic"),
    2: ("slots leak on error paths", f"{APP}/test_stopped.py", "ends_the_session_while_a_read"),
    3: ("sessions end early", f"{BMC}/test_session.py", "a_dropped_session_costs_one_new_log_in"),
    4: ("an older address of sessions", f"{BMC}/test_session.py", "an_old_bmc_takes_sessions"),
    5: ("a scrape waits for no BMC", "exporter/page/test_scrapes_wait_for_nobody.py", "pages_come"),
    6: ("a zero may mean no meter", f"{BMC}/test_hand_checked.py", "a_meter_of_an_x10_that_says_0"),
    7: ("both models of sensors", f"{BMC}/test_trees.py", "a_node_tree_gives_the_nodes_own"),
    8: (
        "an unplugged supply",
        "field_reports/test_r08_health_says_enabled.py",
        "only_the_unplugged",
    ),
    9: ("supplies of one name", f"{BMC}/test_hand_checked.py", "a_value_found_by_hand"),
    10: ("sensors of one name", f"{BMC}/test_trees.py", "is_a_value_or_missing_and_never_both"),
    11: ("N/A for a number", f"{BMC}/test_decoding.py", "what_is_no_number_is_a_named_kind"),
    12: ("expand is work for the BMC", f"{BMC}/test_trees.py", "a_steady_cycle_stays_within"),
    13: ("expand not everywhere", f"{BMC}/test_trees.py", "without_expand_a_liquid_cooled"),
    14: ("expand that leaves out", f"{BMC}/test_awkward_bmcs.py", "expand_that_drops_what_matters"),
    15: ("a faulty detector is no leak", f"{BMC}/test_decoding.py", "a_leak_needs_an_enabled"),
    16: ("one bad member", "field_reports/test_spares_of_redfish.py", "a_property_of_another_type"),
    17: (
        "detectors that are no sensors",
        f"{PLANT}/test_trees.py",
        "gives_the_values_of_its_files",
    ),
    18: ("static data rarely", f"{BMC}/test_discovery.py", "walked_once_an_hour_and_not_on"),
    19: ("one reader of what is shared", f"{PLANT}/test_app.py", "learns_of_its_rack_and_asks_no"),
    20: ("the age is shown", f"{APP}/test_awkward_bmc.py", "the_age_of_a_bmc_that_hangs_grows"),
    21: ("no discovery per cycle", f"{BMC}/test_discovery.py", "asks_only_for_what_the_plan_needs"),
    22: ("a log-in that is redirected", f"{BMC}/test_session.py", "is_posted_again"),
    23: ("no token to others", f"{BMC}/test_awkward_bmcs.py", "is_not_followed_and_gets_no_token"),
    24: ("not ready, though 400", f"{BMC}/test_awkward_bmcs.py", "is_not_ready_yet_is_left_alone"),
    25: ("dead sockets after a restart", f"{BMC}/test_awkward_bmcs.py", "a_bmc_that_was_restarted"),
    26: (
        "a breaker, not more tries",
        "exporter/collectors/test_frame.py",
        "waits_double_after_the",
    ),
    27: ("one session for life", f"{BMC}/test_session.py", "many_cycles_share_one_session"),
}


@pytest.mark.parametrize("number", LESSONS)
def test_a_lesson_has_its_test(number: int) -> None:
    _, file, words = LESSONS[number]
    lines = (TESTS / file).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("def test_") and words in line]


def test_lesson_28_no_bmc_is_asked_how_busy_a_gpu_is() -> None:
    assert not [channel for channel in spell.CHANNELS if "utilization" in channel]
