"""Arguments of `forewarn-simulator`, and what each subcommand does."""

from __future__ import annotations

import argparse
import importlib
import json
import secrets
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import numbers
from daemon.clocks import Clock, system_clock
from daemon.combinations import unread
from daemon.lifecycle import Lifecycle
from daemon.secrets import SecretFile, SecretUnreadable
from daemon.serving import Server
from daemon.version import add_version
from simulator.calibration import command as calibration
from simulator.calibration import recorded
from simulator.endpoints.redfish.bmc import Credentials
from simulator.endpoints.redfish.recorded import RecordedTree
from simulator.faults import EVERY
from simulator.fleet import STEP_SECONDS, Fleet, lay_out
from simulator.physics.workload import Workload
from simulator.recorder import cli as recording
from simulator.scenario import HEALTHY, Scenario
from simulator.serving import ServedFleet

if TYPE_CHECKING:
    from collections.abc import Sequence

TREE_THREADS = 3
OF_NODES = (
    *("nodes", "racks", "gpus", "seed", "workload", "scenario", "node", "gpu", "onset_seconds"),
    *("duration_seconds", "mended", "severity", "speed", "step_seconds", "prefill_seconds"),
    *("bmc_user", "bmc_password_file", "json"),
)
TIME = numbers.real(0.0, numbers.LONGEST_SECONDS)
EPILOG = """\
example: six nodes in two racks; on node 2 (from 0) the thermal interface of GPU 5
begins to fail 10 simulated minutes after the start and takes four hours to the
end, which at 120 times real speed is two minutes

  forewarn-simulator serve --nodes 6 --racks 2 --scenario thermal-interface \\
      --node 2 --gpu 5 --onset-seconds 600 --duration-seconds 14400 --speed 120
"""


def run(arguments: Sequence[str]) -> int:
    """Run one subcommand; wrong input is one line on stderr and status 2."""
    if arguments[:1] == ["demo"]:
        return _demo(list(arguments[1:]))
    options = command_line().parse_args(arguments)
    try:
        status: int = options.act(options)
    except (ValueError, OSError, SecretUnreadable) as error:
        print(f"forewarn-simulator: {error}", file=sys.stderr)
        return 2
    return status


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="forewarn-simulator",
        description="A GPU cluster that can break: physics, faults with known failure times, "
        "served as dcgm-exporter pages and Redfish trees.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    commands = parser.add_subparsers(required=True, metavar="command")
    _serve_arguments(commands.add_parser("serve", help="serve nodes over HTTP until stopped"))
    recording.add_record(commands.add_parser("record", help="write histories as one .npz file"))
    recording.add_export(commands.add_parser("export", help="write histories as OpenMetrics text"))
    stories = commands.add_parser("scenarios", help="list faults and look-alikes")
    stories.set_defaults(act=_scenarios)
    _calibrate_arguments(
        commands.add_parser("calibrate", help="hold the simulator against recorded machines")
    )
    commands.add_parser("demo", help="show the whole product at work: a rack, one node failing")
    return parser


def _serve_arguments(serve: argparse.ArgumentParser) -> None:
    add = serve.add_argument
    add("--nodes", type=numbers.whole(1), default=4, help="number of nodes (default 4)")
    add(
        "--racks",
        type=numbers.whole(1),
        default=1,
        help="racks that they share, in order (default 1)",
    )
    add("--gpus", type=numbers.whole(1), default=8, help="GPUs per node (default 8)")
    add("--seed", type=numbers.seed, default=7, help="same seed, same numbers (default 7)")
    add("--workload", type=Workload, choices=list(Workload), default=Workload.TRAINING)
    add("--scenario", default=HEALTHY, help="story to tell, see `scenarios` (default healthy)")
    add("--node", type=numbers.whole(0), default=0, help="node that is struck, from 0 (default 0)")
    add("--gpu", type=numbers.whole(0), default=0, help="GPU that is struck, from 0 (default 0)")
    add("--onset-seconds", type=TIME, default=600.0, help="simulated, after the start (600)")
    add("--duration-seconds", type=TIME, default=14_400.0, help="simulated, to the end (14400)")
    add(
        "--mended",
        type=numbers.above(0.0, 0.99),
        metavar="RATIO",
        help="the fault is mended at this share of its way, and does not fail",
    )
    add(
        "--severity",
        type=numbers.above(0.0, 1.0),
        default=0.8,
        help="above 0 up to 1 (default 0.8)",
    )
    add(
        "--speed",
        type=numbers.above(0.0, 1e6),
        default=60.0,
        help="simulated seconds per second (default 60)",
    )
    add(
        "--step-seconds",
        type=numbers.above(0.0, 3_600.0),
        default=STEP_SECONDS,
        help="simulated (default 15)",
    )
    add("--prefill-seconds", type=TIME, default=14_400.0, help="history before the start (14400)")
    add("--host", default="127.0.0.1", help="address to bind (default 127.0.0.1)")
    add(
        "--first-port",
        type=numbers.port,
        default=0,
        help="two ports per node from here; 0: any free ones",
    )
    add("--bmc-user", default="forewarn", help="account of every BMC (default forewarn)")
    add("--bmc-password-file", type=Path, help="its password; without it one is made up in a file")
    add("--json", action="store_true", help="print addresses as one JSON line")
    add(
        "--tree",
        type=Path,
        action="append",
        metavar="FOLDER",
        help="serve this recorded Redfish tree, without a log-in, in place of nodes; repeatable, "
        "each on the next port",
    )
    serve.set_defaults(act=_serve, parser=serve)


def _calibrate_arguments(calibrate: argparse.ArgumentParser) -> None:
    add = calibrate.add_argument
    calibrate.description = recorded.__doc__
    calibrate.formatter_class = argparse.RawDescriptionHelpFormatter
    add("--data", type=Path, required=True, help="folder with these recordings")
    add("--out", type=Path, required=True, help="folder for pictures and quantiles.md")
    add("--nodes", type=numbers.whole(1), default=96, help="healthy nodes to simulate (default 96)")
    add(
        "--days", type=numbers.days, default=2.0, help="how long, in days of 60 s steps (default 2)"
    )
    add("--seed", type=numbers.seed, default=7, help="same seed, same numbers (default 7)")
    calibrate.set_defaults(act=_calibrate)


def _serve(options: argparse.Namespace) -> int:
    clock, lifecycle = system_clock(), Lifecycle()
    lifecycle.install_signals()
    if options.tree:
        unread(options, options.parser, OF_NODES, "--tree serves recordings in place of nodes")
        return _serve_trees(options, lifecycle)
    fleet = fleet_of(options, clock)
    with tempfile.TemporaryDirectory(prefix="forewarn-simulator-") as folder:
        secret = _password(options.bmc_password_file, Path(folder))
        credentials = Credentials(options.bmc_user, secret.read())
        served = ServedFleet(
            fleet,
            credentials,
            monotonic=clock.monotonic,
            host=options.host,
            first_port=options.first_port,
        )
        with served:
            _publish(served, options, secret.path)
            lifecycle.stop.wait()
    return 0


def _serve_trees(options: argparse.Namespace, lifecycle: Lifecycle) -> int:
    trees = [RecordedTree(folder) for folder in options.tree]
    with ExitStack() as stack:
        for lane, tree in enumerate(trees):
            port = options.first_port + lane if options.first_port else 0
            server = Server(tree, host=options.host, port=port, threads=TREE_THREADS)
            server.start()
            stack.callback(server.close)
            url = f"http://{options.host}:{server.port}"
            print(f"{options.tree[lane]}  {url}  {len(tree)} documents", flush=True)
        lifecycle.stop.wait()
    return 0


def fleet_of(options: argparse.Namespace, clock: Clock) -> Fleet:
    """Build the fleet that `serve` asks for; raises `ValueError` for an impossible one."""
    scenario = None
    if options.scenario != HEALTHY:
        scenario = Scenario(
            kind=options.scenario,
            onset_seconds=options.prefill_seconds + options.onset_seconds,
            duration_seconds=options.duration_seconds,
            severity=options.severity,
            gpu=options.gpu,
            workload=options.workload,
            mended_ratio=options.mended,
        )
    elif options.mended is not None:
        raise ValueError("--mended mends a fault: expected --scenario beside it")
    if not 0 <= options.gpu < options.gpus:
        raise ValueError(f"--gpu {options.gpu}: expected 0 to {options.gpus - 1}")
    plan = lay_out(
        nodes=options.nodes,
        racks=options.racks,
        seed=options.seed,
        workload=options.workload,
        scenario=scenario,
        struck=options.node,
    )
    return Fleet(
        plan,
        monotonic=clock.monotonic,
        speed=options.speed,
        prefill_seconds=options.prefill_seconds,
        gpus=options.gpus,
        step_seconds=options.step_seconds,
    )


def _password(given: Path | None, folder: Path) -> SecretFile:
    """Return the file that holds the BMCs' password, made up where none is given."""
    if given is not None:
        return SecretFile(given)
    path = folder / "bmc-password"
    path.touch(mode=0o600)
    path.write_text(secrets.token_urlsafe(18), encoding="utf-8")
    return SecretFile(path)


def _publish(served: ServedFleet, options: argparse.Namespace, password: Path) -> None:
    """Say where everything is; the password itself stays in its file."""
    if options.json:
        nodes = [address.document() for address in served.addresses]
        account = {"bmc_user": options.bmc_user, "bmc_password_file": str(password)}
        print(json.dumps({"nodes": nodes, **account}), flush=True)
        return
    for address in served.addresses:
        print(f"{address.rack}  {address.node}  {address.dcgm_url}  {address.redfish_url}")
    print(f"BMC account {options.bmc_user}, password in {password}")
    print(f"{options.speed:g} simulated seconds per second; stop with Ctrl-C", flush=True)


def _calibrate(options: argparse.Namespace) -> int:
    print(calibration.report(options))
    print(f"pictures and quantiles.md in {options.out}")
    return 0


def _scenarios(_options: argparse.Namespace) -> int:
    for kind, told in EVERY.items():
        sort = "look-alike" if told.lookalike else "quiet"
        if told.cause:
            sort = f"fault, {told.cause}, {told.pace}"
        print(f"{kind:<20} {sort:<28} {told.summary}")
    return 0


def _demo(arguments: list[str]) -> int:
    """Hand over to the demo, which needs more than the simulator does."""
    status: int = importlib.import_module("simulator.demo").run(arguments)
    return status
