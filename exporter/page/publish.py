"""What is known, as metric families, built anew at every scrape.

Nothing is kept between scrapes, so a GPU or sensor that goes away takes its
series with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector as PrometheusCollector

from exporter.forecast.drift import Doubt
from exporter.forecast.forecaster import Degraded, State
from exporter.page import absence, catalog
from exporter.window import blindness
from model import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from prometheus_client import Metric

    from exporter.forecast.forecaster import Forecast
    from exporter.grid import View
    from exporter.readings import Gpu
    from model.artefact import ArtefactInfo
    from model.runtime import Prediction

SIGNALS_SHOWN = 5
SIGNAL_FLOOR_RATIO = 0.01

Rows: TypeAlias = "list[tuple[Sequence[str], float]]"
"""Label values in the catalogue's order, and the value."""


class Page(PrometheusCollector):
    """The custom collector behind `/metrics`."""

    def __init__(self, view: Callable[[], View], *, version: str) -> None:
        self._view = view
        self._version = version

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have at least one series now."""
        for name, rows in series(self._view(), self._version):
            if rows:
                yield family(catalog.BY_NAME[name], rows)


class Serving(PrometheusCollector):
    """What is known of the process itself rather than of its node's hardware."""

    def __init__(self, rows: Callable[[], Iterator[tuple[str, Rows]]]) -> None:
        self._rows = rows

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have at least one series now."""
        for name, rows in self._rows():
            if rows:
                yield family(catalog.BY_NAME[name], rows)


def series(view: View, version: str) -> Iterator[tuple[str, Rows]]:
    """Yield metric name and rows of everything that `view` supports."""
    yield from _predictions(view.node, view.forecast)
    yield from _inputs(view)
    yield from _sources(view)
    yield from _gpus(view)
    yield from _model(view)
    yield "forewarn_build_info", [((version,), 1.0)]


def family(metric: catalog.Metric, rows: Rows) -> Metric:
    """Return the family of a catalogued metric with these rows."""
    kind = CounterMetricFamily if metric.kind is catalog.Kind.COUNTER else GaugeMetricFamily
    built = kind(metric.name, metric.help, labels=metric.labels)
    for labels, value in rows:
        built.add_metric(labels, value)
    return built


def _predictions(node: str, forecast: Forecast) -> Iterator[tuple[str, Rows]]:
    if forecast.prediction is not None and forecast.in_force is not None:
        info = forecast.in_force.predictor.info
        yield from _probabilities(node, info, forecast.gpus, forecast.prediction)
        yield "forewarn_prediction_timestamp_seconds", [((node,), forecast.timestamp)]
    yield (
        "forewarn_prediction_state",
        [((node, state), float(state is forecast.state)) for state in State],
    )
    yield (
        "forewarn_prediction_degraded",
        [((node, reason), float(reason in forecast.degraded)) for reason in Degraded],
    )
    yield "forewarn_window_fill_ratio", [((node,), forecast.fill_ratio)]


def _probabilities(
    node: str, info: ArtefactInfo, gpus: Iterable[Gpu], prediction: Prediction
) -> Iterator[tuple[str, Rows]]:
    horizons = info.horizons
    yield (
        "forewarn_node_failure_probability",
        [((node, h), _shortest(p)) for h, p in zip(horizons, prediction.node, strict=True)],
    )
    yield (
        "forewarn_cause_failure_probability",
        [
            ((node, cause, h), _shortest(p))
            for cause, row in zip(info.causes, prediction.cause, strict=True)
            for h, p in zip(horizons, row, strict=True)
        ],
    )
    by_gpu: Rows = []
    scores: Rows = []
    signals: Rows = []
    for index, gpu in enumerate(gpus):
        key = (node, gpu.index, gpu.uuid)
        by_gpu += [
            ((*key, h), _shortest(p)) for h, p in zip(horizons, prediction.gpu[index], strict=True)
        ]
        scores.append((key, _shortest(prediction.score[index])))
        top = _top_signals(info.names, prediction.contribution[index])
        signals += [((*key, name), share) for name, share in top]
    yield "forewarn_gpu_failure_probability", by_gpu
    yield "forewarn_gpu_anomaly_score", scores
    yield "forewarn_signal_contribution_ratio", signals


def _top_signals(names: tuple[str, ...], shares: NDArray[np.float32]) -> list[tuple[str, float]]:
    order = np.argsort(-shares, kind="stable")[:SIGNALS_SHOWN]
    return [(names[i], _shortest(shares[i])) for i in order if shares[i] >= SIGNAL_FLOOR_RATIO]


def _shortest(value: np.float32) -> float:
    """Return the double that prints like the float32, without digits that it never had."""
    return float(str(value))


def _inputs(view: View) -> Iterator[tuple[str, Rows]]:
    rows: dict[str, Rows] = {channel.metric: [] for channel in schema.ON_A_NODE}
    index = _indices(view)
    for place, value in sorted(view.snapshot.values.items(), key=lambda item: _order(item[0])):
        gpu = () if place.uuid is None else (index.get(place.uuid, ""), place.uuid)
        rows[schema.BY_NAME[place.channel].metric].append(((view.node, *gpu), value))
    yield from rows.items()
    ages = sorted(view.snapshot.ages.items())
    yield "forewarn_reading_age_seconds", [((view.node, p.channel), age) for p, age in ages]
    counts = view.snapshot.missing_by_kind()
    yield "forewarn_missing_readings", [((view.node, k), float(n)) for k, n in counts.items()]


def _order(place: tuple[str, str | None]) -> tuple[str, str]:
    channel, uuid = place
    return channel, uuid or ""


def _indices(view: View) -> Mapping[str, str]:
    known = (*view.snapshot.expected, *(view.snapshot.seen or ()))
    return {gpu.uuid: gpu.index for gpu in known}


def _sources(view: View) -> Iterator[tuple[str, Rows]]:
    rows: dict[str, Rows] = {
        metric.name: [] for metric in catalog.HEALTH if metric.name.startswith("forewarn_source_")
    }
    for name, status in view.snapshot.sources.items():
        key = (view.node, name)
        rows["forewarn_source_up"].append((key, float(status.up)))
        for reason, count in status.errors.items():
            rows["forewarn_source_errors_total"].append(((*key, reason), float(count)))
        optional = {
            "forewarn_source_last_success_timestamp_seconds": status.last_success,
            "forewarn_source_scrape_duration_seconds": status.duration_seconds,
        }
        for metric, value in optional.items():
            if value is not None:
                rows[metric].append((key, value))
        if status.up and status.readings is not None and status.readings.strategy:
            info = ((*key, status.readings.strategy), 1.0)
            rows["forewarn_source_strategy_info"].append(info)
    yield from rows.items()


def _gpus(view: View) -> Iterator[tuple[str, Rows]]:
    if view.snapshot.expected_count is not None:
        yield "forewarn_gpus_expected", [((view.node,), float(view.snapshot.expected_count))]
    if view.snapshot.seen is not None:
        yield "forewarn_gpus_seen", [((view.node,), float(len(view.snapshot.seen)))]
    unexplained = absence.unexplained(view.snapshot)
    if unexplained is not None:
        yield "forewarn_gpus_unexplained", [((view.node,), float(unexplained))]
    index = _indices(view)
    yield "forewarn_gpu_departure_info", list(_departures(view, index))
    blind = blindness.unlisted(view.snapshot)
    yield "forewarn_channel_blind", [((view.node, channel), 1.0) for channel in blind]
    yield (
        "forewarn_gpu_workload_info",
        [
            ((view.node, index.get(w.uuid, ""), w.uuid, w.namespace, w.pod, w.container), 1.0)
            for w in sorted(set(view.snapshot.workloads))
        ],
    )


def _departures(view: View, index: Mapping[str, str]) -> Iterator[tuple[Sequence[str], float]]:
    bmc = absence.witness(view.snapshot)
    for left in view.snapshot.departures:
        activity = "busy" if left.busy else "idle"
        xid = "hardware" if left.hardware_xid else "none"
        gpu = (view.node, index.get(left.uuid, ""), left.uuid)
        yield (*gpu, left.after, activity, xid, bmc), 1.0


def _model(view: View) -> Iterator[tuple[str, Rows]]:
    key = (view.node,)
    if view.in_force is not None:
        predictor = view.in_force.predictor
        info = predictor.info
        labels = (view.node, info.version, info.provenance, info.scope, predictor.digest)
        yield "forewarn_model_info", [(labels, 1.0)]
        yield "forewarn_model_trained_timestamp_seconds", [(key, info.trained_timestamp)]
    yield from _doubts(view.node, view.forecast)
    yield "forewarn_model_reload_success", [(key, float(view.shelf.reload_success))]
    refusals = view.shelf.refusals.items()
    yield "forewarn_model_refusals_total", [((view.node, r), float(n)) for r, n in refusals]
    if view.inference_seconds is not None:
        yield "forewarn_inference_duration_seconds", [(key, view.inference_seconds)]
    yield "forewarn_inference_failures_total", [(key, float(view.inference_failures))]
    if view.window_saved is not None:
        yield "forewarn_window_save_success", [(key, float(view.window_saved))]
    yield "forewarn_settings_reload_success", [(key, float(view.settings_reloaded))]


def _doubts(node: str, forecast: Forecast) -> Iterator[tuple[str, Rows]]:
    if forecast.in_force is None:
        return
    ratio = forecast.drift.ratio
    if ratio is not None:
        info = forecast.in_force.predictor.info
        yield "forewarn_model_input_drift", [((node,), ratio)]
        by_channel = forecast.drift.by_channel(info).items()
        yield "forewarn_model_input_drift_by_channel", [((node, c), v) for c, v in by_channel]
    yield (
        "forewarn_model_doubted",
        [((node, doubt), float(doubt in forecast.doubts)) for doubt in Doubt],
    )
