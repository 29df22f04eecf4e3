"""Holds files and functions to the sizes that CONTRIBUTING.md names. Exit status 1 names each that is over."""

import ast
import sys
from pathlib import Path

MOST_LINES = 500
MOST_FUNCTION = 60
LONG_FUNCTION = 35
LONG_SHARE = 0.05
PACKAGES = ("bot", "agent", "lab", "backends", "examples", "prompts", "scripts", "bench")


def main() -> int:
    """Check every source file of the packages."""
    problems: list[str] = []
    lengths: list[int] = []
    for path in sorted(path for package in PACKAGES for path in Path(package).rglob("*.py")):
        if "versions" in path.parts:  # migrations are written by Alembic
            continue
        text = path.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > MOST_LINES:
            problems.append(f"{path}: {lines} lines, at most {MOST_LINES}")
        for name, length in functions(ast.parse(text)):
            lengths.append(length)
            if length > MOST_FUNCTION:
                problems.append(f"{path}: {name} has {length} lines, at most {MOST_FUNCTION}")
    long = sum(length > LONG_FUNCTION for length in lengths)
    if lengths and long > LONG_SHARE * len(lengths):
        problems.append(f"{long} of {len(lengths)} functions are over {LONG_FUNCTION} lines, at most 5%")
    print("\n".join(problems) or f"{len(lengths)} functions, {long} over {LONG_FUNCTION} lines: within bounds")
    return 1 if problems else 0


def functions(tree: ast.Module) -> list[tuple[str, int]]:
    """Name and lines of every function, without its docstring."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                length -= (first.end_lineno or first.lineno) - first.lineno + 1
            found.append((node.name, length))
    return found


if __name__ == "__main__":
    sys.exit(main())
