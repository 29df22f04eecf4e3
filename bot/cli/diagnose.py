"""`labhand diagnose` and `labhand signatures`: no home, no set-up, only a log."""

import argparse
import sys
from pathlib import Path
from typing import Any

from bot.cli.output import print_json, print_rows
from bot.settings import load_settings
from lab.diagnosis import Diagnosis, Hints, Signatures, check_signatures, diagnose, load_signatures, to_json
from lab.home import Home


def diagnose_file(arguments: argparse.Namespace) -> int:
    """Print why the job that wrote this log ended as it did."""
    hints = Hints(arguments.exit_code, arguments.signal, arguments.slurm_state, arguments.gpu)
    known = _signatures()
    if arguments.file == "-":
        found = diagnose(sys.stdin.buffer, hints, known)
    else:
        with Path(arguments.file).open("rb") as log:
            found = diagnose(log, hints, known)
    if arguments.json:
        print_json(to_json(found))
    else:
        _print(found)
    return 0


def signatures(arguments: argparse.Namespace) -> int:
    """List the signatures, or test a lab's own file; exit status 1 when one fails its own examples."""
    if arguments.what == "test":
        files = [Path(arguments.file)] if arguments.file else _own_files()
        problems = [
            {"file": str(path), "problem": str(problem)} for path in files for problem in check_signatures(path)
        ]
        if arguments.json:
            print_json(problems)
        else:
            print_rows(problems, f"problems in {len(files)} files")
        return 1 if problems else 0
    rows: list[dict[str, Any]] = [{"id": s.id, "category": s.category, "source": s.source} for s in _signatures()]
    if arguments.json:
        print_json(rows)
    else:
        print_rows(rows, "signatures")
    return 0


def _own_files() -> list[Path]:
    folder = Home(load_settings().home.expanduser()).signatures
    return sorted(folder.glob("*.y*ml")) if folder.is_dir() else []


def _signatures() -> Signatures:
    return load_signatures(_own_files())


def _print(found: Diagnosis) -> None:
    print(f"{found.category}: {found.root_cause}")
    if found.evidence is not None:
        print(f"  line {found.evidence.line}: {found.evidence.text}")
    if found.why_not_the_usual_hint:
        print(f"  {found.why_not_the_usual_hint}")
    print(f"  retry: {found.retry}; what helps: {', '.join(found.actions)}; confidence {found.confidence:.0%}")
