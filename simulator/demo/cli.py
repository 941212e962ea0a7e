"""`forewarn-simulator demo`: sets the stage, tells the story, says whether it happened."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from daemon import numbers
from simulator.demo import clusters, programs, shipped
from simulator.demo.observing import Observer
from simulator.demo.plan import MIGRATE, MODES, SCALE_LIMIT, Plan
from simulator.demo.stage import JobNotPlaced, Stage
from simulator.demo.story import Story
from simulator.faults import EVERY
from simulator.processes import ProcessFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOK_EVERY_SECONDS = 0.5
TIME = numbers.real(0.0, numbers.LONGEST_SECONDS)
AFTERMATH_SECONDS = 600.0
SET_UP_ERRORS = (
    programs.ProgramMissing, clusters.NotBuilt, shipped.NoCheckout, ProcessFailed, JobNotPlaced,
    ValueError, OSError,
)  # fmt: skip
PASSING_ERRORS = (requests.RequestException, ApiException, HTTPError)


def run(arguments: Sequence[str]) -> int:
    """Run one trial; 0 when the story happened, 1 when it did not, 2 when it could not start."""
    options = _parser().parse_args(list(arguments))
    # Whoever ends the demo, and however: its programs end with it.
    for ended in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ended, signal.default_int_handler)
    folder = Path(options.folder or tempfile.mkdtemp(prefix="forewarn-demo-"))
    try:
        plan = _plan(options, folder)
        return _play(plan, keep=options.keep)
    except SET_UP_ERRORS as error:
        print(f"forewarn demo: {error}", file=sys.stderr)
        return 2
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


def _play(plan: Plan, *, keep: bool) -> int:
    narrator = Narrator(plan)
    narrator.opening()
    with Stage(plan, narrator.say) as stage:
        narrator.places(stage)
        story = Story(failing=stage.struck, nodes=plan.names, pods=plan.busy)
        _follow(stage, story, narrator)
        verdict = narrator.verdict(story)
        if keep:
            narrator.say("KEEP=1: everything stays up; Ctrl-C ends it.")
            while True:
                stage.look()
                time.sleep(LOOK_EVERY_SECONDS)
    return verdict


def _follow(stage: Stage, story: Story, narrator: Narrator) -> None:
    observer = Observer(stage)
    end = stage.plan.end_seconds + AFTERMATH_SECONDS
    try:
        while not story.over and stage.hardware.elapsed_seconds() < end:
            stage.processes.check()
            try:
                look = observer.look()
            except PASSING_ERRORS as error:
                narrator.unseen(error)
            else:
                for sentence in story.follow(look):
                    narrator.tell(look.at_seconds, sentence)
            time.sleep(LOOK_EVERY_SECONDS)
    finally:
        observer.close()


class Narrator:
    """Says what happens, with the simulated time in front."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._unseen = 0

    def say(self, sentence: str) -> None:
        """Print one line at once."""
        print(sentence, flush=True)

    def tell(self, at_seconds: float, sentence: str) -> None:
        """Print one line of the story."""
        hours, minutes = divmod(int(at_seconds) // 60, 60)
        self.say(f"[{hours:02d}:{minutes:02d}] {sentence}")

    def opening(self) -> None:
        """Say what will be shown."""
        plan = self._plan
        told = EVERY[plan.scenario].summary
        where = "a real control plane" if plan.real_cluster else "the embedded cluster"
        self.say(
            f"A rack of {plan.nodes} simulated nodes on {where}; a training job runs on "
            f"{plan.busy} of them.\nStory: {plan.scenario}. {told}\n"
            f"One second here is {plan.scale:g} seconds there; times are hours:minutes there."
        )

    def places(self, stage: Stage) -> None:
        """Say where to look."""
        at = stage.addresses
        self.say(
            f"Prometheus    {at.prometheus}/graph\nAlertmanager  {at.alertmanager}\n"
            f"Remediation   {at.remediation}\nExporter      {at.exporter} ({stage.struck})\n"
            f"Logs          {self._plan.folder / 'logs'}"
        )

    def unseen(self, error: Exception) -> None:
        """Count a look that failed; the first one is said."""
        self._unseen += 1
        if self._unseen == 1:
            self.say(f"(one look failed: {str(error).splitlines()[0][:120]})")

    def verdict(self, story: Story) -> int:
        """Say whether the story happened; returns the exit status."""
        if not self._plan.fails:
            return self._quiet(story)
        if self._plan.observes:
            return self._observed(story)
        faults, lead = story.faults(), story.lead_seconds()
        if faults:
            self.say("The story did not happen: " + "; ".join(faults) + ".")
            return 1
        self.say(
            f"The work had left {story.failing} {(lead or 0.0) / 60:.0f} minutes "
            "before its hardware failed."
        )
        return 0

    def _observed(self, story: Story) -> int:
        if faults := story.faults_observed():
            self.say("The story did not happen: " + "; ".join(faults) + ".")
            return 1
        self.say(
            f"Nothing was moved, because remediation only observes: it {story.would}. "
            "With --mode migrate it does so."
        )
        return 0

    def _quiet(self, story: Story) -> int:
        disturbed = sorted(story.strangers | ({story.failing} if story.excluded else set()))
        if disturbed or not story.watched:
            reason = f"cordoned {', '.join(disturbed)}" if disturbed else "never predicted"
            self.say(f"A look-alike should have stayed quiet: {reason}.")
            return 1
        self.say(f"Nothing was cordoned; the highest probability was {story.highest:.1%}.")
        return 0


def _plan(options: argparse.Namespace, folder: Path) -> Plan:
    return Plan(
        folder=folder,
        scenario=options.scenario,
        nodes=options.nodes,
        scale=options.scale,
        onset_seconds=options.onset_seconds,
        duration_seconds=options.duration_seconds,
        seed=options.seed,
        real_cluster=options.cluster == "real",
        mode=options.mode,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forewarn-simulator demo",
        description="Show the whole product at work on simulated hardware, with a real "
        "Prometheus and Alertmanager; exits 0 when the work moved before the failure.",
        epilog="example: CLUSTER=real KEEP=1 make demo; or forewarn-simulator demo "
        "--scenario power-capping, which must end without a cordon",
    )
    add = parser.add_argument
    add("--scenario", choices=list(EVERY), default="thermal-interface", help="story to tell")
    add(
        "--nodes",
        type=numbers.whole(1),
        default=4,
        help="nodes in the rack, one stays free (default 4)",
    )
    add(
        "--scale",
        type=numbers.above(0.0, 1e6),
        default=60.0,
        help=f"divides durations, 1 to {SCALE_LIMIT:g} (60)",
    )
    add("--onset-seconds", type=TIME, default=2_400.0, help="simulated (default 2400)")
    add("--duration-seconds", type=TIME, default=5_400.0, help="simulated (default 5400)")
    add("--seed", type=numbers.seed, default=7, help="same seed, same machines (default 7)")
    add("--mode", choices=MODES, default=MIGRATE, help="remediation's; observe moves nothing")
    add("--cluster", choices=("embedded", "real"), default=os.environ.get("CLUSTER", "embedded"))
    add(
        "--keep",
        action="store_true",
        default=os.environ.get("KEEP") == "1",
        help="stay up (KEEP=1)",
    )
    add("--folder", help="keep settings and logs here (default: a folder that is removed)")
    return parser
