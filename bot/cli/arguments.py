"""The arguments of every command. Only argparse is imported, so that `--help` answers at once."""

import argparse


def build_parser() -> argparse.ArgumentParser:
    """The whole parser; a command's `run` names the function that carries it out."""
    parser = argparse.ArgumentParser(
        prog="labhand",
        description="A research assistant that plans, runs, repairs and compares experiments from a lab's chat.",
        epilog="Settings are environment variables named LABHAND_…: see docs/SETTINGS.md.",
    )
    parser.add_argument("--version", action="version", version="labhand 0.1.0")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _talk(commands)
    _look(commands)
    _serve(commands)
    _tend(commands)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: str,
    about: str,
    *,
    json: bool = True,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    if json:
        parser.add_argument("--json", action="store_true", help="print exactly one JSON value on standard output")
    return parser


def _talk(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parse = _command(commands, "parse", "bot.cli.understand:parse", "show what a message is understood as")
    parse.add_argument("text", metavar="TEXT")
    plan = _command(commands, "plan", "bot.cli.understand:plan", "draw up a plan without storing it")
    plan.add_argument("text", metavar="TEXT")
    diagnose = _command(commands, "diagnose", "bot.cli.diagnose:diagnose_file", "say why a job failed, from its log")
    diagnose.add_argument("file", metavar="FILE", help="a log file; - reads standard input")
    diagnose.add_argument("--exit-code", type=int, metavar="N")
    diagnose.add_argument("--signal", metavar="NAME", help="the signal that ended it, e.g. SIGKILL")
    diagnose.add_argument("--slurm-state", metavar="S", help="e.g. OUT_OF_MEMORY, TIMEOUT")
    diagnose.add_argument("--gpu", metavar="JSON", help="what telemetry says of the GPU, as JSON or words")
    ask = _command(commands, "ask", "bot.cli.ask:ask", "say something to Labhand and see its answer")
    ask.add_argument("text", metavar="TEXT")
    ask.add_argument("--as", dest="user", metavar="USER", help="whose word it is")
    ask.add_argument("--thread", metavar="ID", help="go on in this conversation")
    ask.add_argument("--wait", action="store_true", help="stay until the plan has ended")
    ask.add_argument("--yes", action="store_true", help="press the buttons a researcher may press")


def _look(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    runs = _command(commands, "runs", "bot.cli.look:runs", "list runs")
    runs.add_argument("--plan", type=int, metavar="ID")
    _command(commands, "queue", "bot.cli.look:queue", "list what runs and what waits")
    show = _command(commands, "show", "bot.cli.look:show", "show one run with its attempts")
    show.add_argument("id", type=int, metavar="ID")
    logs = _command(commands, "logs", "bot.cli.look:logs", "print the end of a run's log")
    logs.add_argument("id", type=int, metavar="ID")
    logs.add_argument("--lines", type=int, default=40, metavar="N")
    _command(commands, "nodes", "bot.cli.look:nodes", "list the machines and their GPUs")
    _command(commands, "quota", "bot.cli.look:quota", "show what was used this month")
    audit = _command(commands, "audit", "bot.cli.look:audit_trail", "show or verify the audit trail")
    audit.add_argument("what", nargs="?", choices=("show", "verify"), default="show")
    audit.add_argument("--limit", type=int, default=50, metavar="N")


def _serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    up = _command(commands, "up", "bot.cli.serve:up", "run the bots, the chat page and the control loop", json=False)
    up.add_argument("--open", action="store_true", help="open the chat page in a browser")
    _command(commands, "demo", "bot.cli.demo:demo", "run the whole story on this machine, for real", json=False)


def _tend(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    _command(commands, "doctor", "bot.cli.doctor:doctor", "check every part and say what to fix")
    recipe = _command(commands, "recipe", "bot.cli.recipes:recipes", "list recipes, or check one file")
    recipe.add_argument("file", nargs="?", metavar="FILE")
    signatures = _command(commands, "signatures", "bot.cli.diagnose:signatures", "list or test failure signatures")
    signatures.add_argument("what", nargs="?", choices=("list", "test"), default="list")
    signatures.add_argument("file", nargs="?", metavar="FILE")
