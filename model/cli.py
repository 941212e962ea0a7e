"""The `forewarn-model` command.  Training is imported only by the subcommands that train."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from daemon import destinations, numbers
from daemon.combinations import WrongLine
from daemon.version import add_version
from model import inspection, judging, rebasing, runtime
from model.history import cli as site

if TYPE_CHECKING:
    from collections.abc import Sequence

BUNDLED = Path(__file__).parent / "bundled" / "fleet.onnx"
DEFAULT_SEED = site.DEFAULT_SEED
EXTRA_MODULES = frozenset({"torch", "onnx", "rich"})
WRONG_LINE = 2
GO_ON = frozenset({"train", "backtest"})
"""What keeps in --work what is done."""

DESCRIPTION = """\
Makes, judges and inspects artefacts: the ONNX files by which an exporter tells
how likely its node is to fail, why and how soon."""

EXAMPLE = """\
examples:
  forewarn-model inspect model/bundled/fleet.onnx
      what an artefact is, where it is from and what it was worth

  forewarn-model train --simulate bundled --seed 7 --out fleet.onnx
      make the bundled artefact anew; needs the extra `train`: in a clone, make .venv/.train

  forewarn-model train --prometheus http://prometheus:9090 --work /var/tmp/site --out models
      from a site's own history: models/fleet.onnx, and one per node; started again, it goes on

  forewarn-model plan --prometheus http://prometheus:9090 --shards 20 --work /models/work
  forewarn-model train --work /models/work --out /models --only nodes --shard 3
      the same for thousands of nodes, in shards (deploy/training)

  forewarn-model backtest fleet.onnx --prometheus http://prometheus:9090 --incidents list.csv
      what an artefact would have said of the last month

  forewarn-model rebase fleet.onnx --backtest site.json
      set how often the nodes of this site fail, as a backtest has counted it

  forewarn-model evaluate fleet.onnx --html worth.html
      replay an artefact over simulated nodes that its training never saw, beside
      its rivals; the page has plots, worth.json beside it the same numbers

  forewarn-model evaluate fleet.onnx --quiet-node-weeks 500
      count false alerts where nothing fails, enough to bound them

  forewarn-model leave-each-out
      what becomes of each kind of fault when training has not seen it

An exporter picks up a new file without a restart.  Files are replaced in one
instant, so `--out` may point at the place from which an exporter reads."""


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(
        prog="forewarn-model",
        description=DESCRIPTION,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(top)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(commands)
    site.add_plan(commands)
    site.add_backtest(commands)
    judging.add_evaluate(commands)
    judging.add_strangers(commands)
    inspect = commands.add_parser("inspect", help="say what an artefact is and what it was worth")
    inspect.add_argument("file", type=Path, nargs="?", default=BUNDLED, help="default: the bundled")
    inspect.add_argument("--json", action="store_true", help="print the metadata as JSON")
    inspect.set_defaults(run=_inspect)
    complete = commands.add_parser(
        "complete", help="add to an artefact of an earlier version what it does not tell of itself"
    )
    complete.add_argument("file", type=Path, help="the .onnx file, replaced in one instant")
    complete.set_defaults(run=_complete)
    rebasing.add_rebase(commands)
    return top


def _add_train(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    train = commands.add_parser(
        "train",
        help="train on simulated nodes or on a site's own history, and write artefacts",
        description=site.TRAIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    train.add_argument(
        "--simulate",
        choices=("bundled", "tiny", "none"),
        help="how much to simulate: 'bundled' makes the shipped artefact (what that takes: "
        "docs/measurements.md), 'tiny' shows that everything works and is worth nothing; with a "
        "site's history, simulated failures are learned beside it (default there: bundled), or "
        "'none'",
    )
    train.add_argument(
        "--out",
        type=Path,
        required=True,
        help="the .onnx file to write; with a site's history, the folder of models that exporters "
        "read (setting model.directory)",
    )
    train.add_argument("--seed", type=numbers.seed, help="decides every weight (default: 7)")
    train.add_argument(
        "--weights",
        action="store_true",
        help="also write the weights beside the artefact, from which nodes' own models are tuned "
        "(with a site's history they always are)",
    )
    train.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="KIND",
        help="simulate without this kind of story, to evaluate what becomes of strangers; "
        "repeatable",
    )
    site.add_train(train)
    train.set_defaults(run=_train, parser=train)


def _inspect(arguments: argparse.Namespace) -> None:
    predictor = runtime.load(arguments.file)
    print(
        inspection.as_json(predictor.info)
        if arguments.json
        else inspection.describe(arguments.file, predictor)
    )


def _complete(arguments: argparse.Namespace) -> None:
    from model.training.artefacts import completion

    done = completion.complete(arguments.file)
    print(f"{arguments.file}: {'what it lacked was added' if done else 'tells everything already'}")


def _train(arguments: argparse.Namespace) -> int:
    if arguments.prometheus or arguments.work:
        return site.train(arguments)
    if arguments.simulate in (None, "none"):
        raise WrongLine("expected --prometheus, --work or --simulate SIZE")
    site.without_a_site(arguments)
    destinations.file("--out", arguments.out, ending=".onnx")
    without = judging.left_out(arguments.leave_out)
    from model.training.commands import train as command
    from model.training.fitting.sizes import recipe

    seed = DEFAULT_SEED if arguments.seed is None else arguments.seed
    chosen = recipe(arguments.simulate, seed, without)
    command.train(chosen, arguments.out, with_weights=arguments.weights)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; 0 on success, 1 with one clear line, 2 for a wrong command line."""
    arguments = parser().parse_args(argv)
    try:
        return int(arguments.run(arguments) or 0)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*how_to_go_on(arguments)) from None
    except (destinations.NoDestination, WrongLine) as error:
        return _refuse(f"{arguments.command}: {error}", WRONG_LINE)
    except runtime.ModelRefused as error:
        return _refuse(str(error))
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRA_MODULES:
            raise
        return _refuse(
            f"{arguments.command} needs the extra 'train', {missing} is not installed: {_extra()}"
        )
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` does; the interpreter's last flush must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refuse(f"{error.filename or arguments.command}: {error.strerror}")


def how_to_go_on(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return what to say to who stopped a command, where what is done was kept."""
    kept = arguments.command in GO_ON and arguments.work is not None
    return ("give the same line again to go on",) if kept else ()


def _extra() -> str:
    """Say how the extra comes to where this package lies: a clone, or an installed package."""
    if (Path(__file__).parents[1] / "Makefile").is_file():
        return "run `make .venv/.train` in this clone, then .venv/bin/forewarn-model"
    return "install forewarn[train] from where you have forewarn"


def _refuse(line: str, status: int = 1) -> int:
    print(f"forewarn-model: {line}", file=sys.stderr)
    return status
