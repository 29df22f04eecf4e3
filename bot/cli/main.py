"""`labhand`: reads the arguments and hands over to the command's own module."""

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence

from bot.cli.arguments import build_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 it could not be done, 2 the arguments are wrong."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if not getattr(arguments, "run", None):
        parser.print_help()
        return 2
    module, _, function = arguments.run.partition(":")
    command: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), function)
    return _guarded(command, arguments)


def _guarded(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    from backends.errors import BackendError
    from bot.settings import SettingsError
    from lab.errors import LabError

    try:
        return command(arguments)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    except (LabError, SettingsError) as error:
        print(f"labhand: {error}", file=sys.stderr)
        return 1
    except BackendError as error:
        print(f"labhand: {error} {error.next_step or ''}".rstrip(), file=sys.stderr)
        return 1
    except OSError as error:
        print(f"labhand: {error.strerror or error}: {error.filename or ''}. {_advice(error)}", file=sys.stderr)
        return 1


def _advice(error: OSError) -> str:
    if error.errno == 28:
        return "Free some space on that disk, or point LABHAND_HOME to another; nothing is lost."
    return "Check the path and its permissions, or point LABHAND_HOME elsewhere."


if __name__ == "__main__":
    sys.exit(main())
