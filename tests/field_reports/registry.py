"""Which tests answer which public report, by the part that it hits.

A place is a file under tests/ and words of a name in it: of a test, or of a
case of the alerting rules.
"""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """A room that a report hits, and how the reports spell it."""

    EXPORTER = "exporter"
    FACILITY = "facility"
    MODEL = "model"
    TRAINING = "training"
    ALERTS = "alerts"
    DASHBOARDS = "dashboards"
    REMEDIATION = "remediation"
    SIMULATOR = "simulator"
    DEPLOY = "deploy"
    CI = "CI"


E, F, M, T, A = Part.EXPORTER, Part.FACILITY, Part.MODEL, Part.TRAINING, Part.ALERTS
B, R, S, D = Part.DASHBOARDS, Part.REMEDIATION, Part.SIMULATOR, Part.DEPLOY
RULES = "rules/sources.test.yml"
HEALTH = "rules/prediction_health.test.yml"
R01 = "field_reports/test_r01_utilisation_out_of_this_world"
R07 = "field_reports/test_r07_the_monitor_warms_the_house"
R10 = "field_reports/test_r10_"
R40 = "field_reports/test_r40_six_hours_from_now"

CASES: dict[int, dict[Part, str]] = {
    1: {
        E: f"{R01}.py::counted_once_each",
        M: f"{R01}_in_a_prediction.py::no_output_moves",
        T: f"{R01}_in_history.py::dcgms_own_history",
    },
    2: {E: "field_reports/test_r02_four_switches_one_name.py::hottest_switch"},
    4: {
        E: "field_reports/test_r04_a_page_without_a_sample.py::eight_are_still_expected",
        A: f"{HEALTH}::blind fires after its hold",
    },
    6: {
        E: "field_reports/test_r06_given_away_to_a_virtual_machine.py::declared_absence",
        M: "field_reports/test_r06_given_away_and_not_foretold.py::stays_below_the_alert",
        A: f"{RULES}::left without a sign of failure",
        S: "simulator/faults/test_more_lookalikes.py::gpu_given_away",
    },
    7: {
        M: f"{R07}.py::raises_no_alert",
        T: f"{R07}_in_training.py::no_window_of_training",
        E: f"{R07}_on_a_node.py::names_the_power",
        A: f"{HEALTH}::outside the training range",
    },
    8: {
        E: "field_reports/test_r08_health_says_enabled.py::only_the_unplugged_supply",
        F: "field_reports/test_r08_health_says_enabled.py::pumps_of_the_facility",
    },
    9: {
        E: "field_reports/test_r09_numbers_that_are_not_what_the_field_says.py::threshold_of_zero",
        M: "field_reports/test_r09_numbers_that_are_not_what_the_field_says.py::beyond_physics",
    },
    10: {
        E: f"{R10}the_host_is_off_the_sensors_talk_on.py::frozen",
        M: f"{R10}the_host_is_off_on_a_node.py::blind_and_warms_up",
        R: f"{R10}off_is_not_cool_and_healthy.py::stays_out_however_low",
        S: f"{R10}the_host_is_off_in_simulation.py::no_readings_of_its_host",
    },
    11: {E: "field_reports/test_r11_only_thermal_is_ill.py::newer_model_and_stay"},
    12: {
        E: "field_reports/test_r12_three_values_one_property.py::whatever_the_order",
        F: "field_reports/test_r12_three_values_one_property.py::beside_such_a_report",
    },
    14: {
        E: "field_reports/test_r14_logged_in_and_shut_out.py::one_log_in_a_quarter",
        F: "field_reports/test_r14_logged_in_and_shut_out.py::holds_for_the_facility",
    },
    16: {R: "field_reports/test_r16_no_data_dressed_as_a_prediction.py::nothing_is_done"},
    18: {
        R: "field_reports/test_r18_200_ok_please_log_in.py::r18_an_answer_without_any_data",
        T: "field_reports/test_r18_200_ok_please_log_in_to_history.py::fails_the_chunk",
    },
    19: {T: "field_reports/test_r19_one_limit_three_faces.py::missing_or_doubled"},
    20: {
        R: "field_reports/test_r20_two_exporters_while_they_roll.py::asked_joins_nothing",
        A: "rules/failure_likely.test.yml::two pages of one node make one alert",
        B: "dashboards/test_fleet.py::prometheus_can_parse_every_query",
    },
    21: {
        R: "field_reports/test_r21_one_lost_scrape.py::no_second_episode",
        A: "rules/failure_likely.test.yml::a dip is bridged",
    },
    23: {R: "field_reports/test_r23_i_am_moving_it_myself.py::owners_words"},
    25: {R: "field_reports/test_r25_killed_and_put_back.py::makes_the_node_give_way"},
    26: {R: "field_reports/test_r26_tainted_and_forgotten.py::said_aloud_with_its_time"},
    27: {R: "field_reports/test_r27_abdicating_at_the_first_slow_call.py::never_costs_the_lease"},
    28: {
        R: "field_reports/test_r28_almost_the_same_name.py::not_exact_is_refused",
        E: "field_reports/test_r28_almost_the_same_name_on_a_node.py::letter_by_letter",
        D: "field_reports/test_r28_almost_the_same_name_on_a_node.py::the_daemonset_takes_it",
        A: "contracts/test_alerts.py::can_be_read_again_by_its_labels",
    },
    31: {
        E: "field_reports/test_r31_more_cores_than_we_may_use.py::counts_224_processors",
        D: "field_reports/test_r31_more_cores_than_we_may_use.py::half_a_processor",
    },
    32: {
        E: "field_reports/test_r32_a_model_from_the_future_on_a_node.py::too_new",
        T: "model/training/artefacts/test_export.py::agree_on_every_output",
        Part.CI: "contracts/test_requirements.py::oldest_runtime_is_tested",
    },
    33: {R: "field_reports/test_r33_401_for_ever.py::every_rotation_counts"},
    34: {
        R: "field_reports/test_r34_the_second_rotation_of_the_webhook.py::every_rotation",
        E: "field_reports/test_r34_the_second_rotation_of_the_exporter.py::every_rotation",
        D: "deploy/test_manifests.py::mounted_volume",
    },
    36: {T: "field_reports/test_r36_half_past_two_twice.py::nothing_of_the_list_is_used"},
    37: {
        T: "field_reports/test_r37_a_column_that_never_moves.py::scales_have_a_floor",
        M: "field_reports/test_r37_a_column_that_never_moves_in_a_nodes_own_model.py"
        "::for_the_first_time_alerts_nobody",
        E: "field_reports/test_r37_a_column_that_never_moves_in_a_nodes_own_model.py::drift_speaks",
    },
    38: {T: "field_reports/test_r38_one_gpu_four_hundred_series.py::one_row_a_minute"},
    39: {
        T: "field_reports/test_r39_resets_that_never_happened.py::leave_the_whole_hour_out",
        E: "field_reports/test_r39_resets_that_never_happened.py::missing_on_a_node",
        A: "field_reports/test_r39_resets_that_never_happened.py::no_rule_rates",
    },
    40: {
        E: f"{R40}_on_a_node.py::window_steps_on",
        T: f"{R40}_in_training.py::jump_of_the_clock",
        R: f"{R40}.py::from_the_future",
    },
}
"""By number of the report.  Parts that it does not name itself may be here besides."""
