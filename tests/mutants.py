"""``make mutants``: breaks lines that decide something, one at a time, and reports those that no test notices.

The lines are drawn with a printed seed from the modules below; each is broken in a copy of the tree: a comparison or
its boundary, ``and`` or ``or``, a ``not``, a constant. First the tests that mirror the module are asked, then all that
import it. Each result is written to ``.mutants/`` as it comes, and a second call resumes. Exit code 1 where more than
10 % of the mutants survive.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".mutants"
DECIDING = (
    "app/audit",
    "app/check",
    "app/comparison",
    "app/diagnosis",
    "app/isolation",
    "app/load",
    "app/quick",
    "app/recording",
    "app/series",
    "app/server",
    "app/survey",
    "app/trial",
    "app/watch",
    "app/worksheets",
    "forms/audit",
    "forms/comparison",
    "forms/diagnosis",
    "forms/experiments",
    "forms/findings",
    "forms/isolation",
    "forms/load",
    "forms/quick",
    "forms/series",
    "forms/stats",
    "forms/trial",
    "forms/tuning",
    "forms/watch",
    "storage",
)
"""Folders whose modules decide something; not the guide."""
MOST_SURVIVORS = 0.1
LONGEST_SECONDS, LEAST_SECONDS, TIMES = 900.0, 120.0, 8
"""Tests that take this many times what they took on the whole tree hang, which is noticed too."""
_COMPARISONS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is not": "is", "is": "is not",
    "not in": "in", "in": "not in",
}  # fmt: skip
_OPERATOR = re.compile(rb"is\s+not\b|not\s+in\b|<=|>=|==|!=|<|>|\bis\b|\bin\b")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line broken in one way."""

    path: str
    line: int
    start: int
    """In bytes, of the part of the file that is replaced."""
    end: int
    instead: str
    what: str

    @property
    def key(self) -> str:
        """What it is called."""
        return f"{self.path}:{self.line} {self.what}"


def mutants_of(path: Path, name: str) -> Iterator[Mutant]:
    """Every way to break a deciding line of a module."""
    content = path.read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def made(node: ast.expr, start: int, end: int, instead: str) -> Mutant:
        before = " ".join(content[start:end].decode().split())
        return Mutant(name, node.lineno, start, end, instead, f"{before} -> {instead.strip() or 'nothing'}")

    def begin(node: ast.expr) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    tree = ast.parse(content)
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=comparators):
                for first, second in zip([left, *comparators], comparators, strict=False):
                    found = _OPERATOR.search(content, end(first), begin(second))
                    if found:
                        operator = " ".join(found[0].decode().split())
                        yield made(first, found.start(), found.end(), _COMPARISONS[operator])
            case ast.BoolOp(op=op, values=values):
                word, other = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for first, second in pairwise(values):
                    found = re.compile(rb"\b%s\b" % word.encode()).search(content, end(first), begin(second))
                    if found:
                        yield made(first, found.start(), found.end(), other)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield made(operand, begin(node), begin(operand), "")
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        for node in ast.walk(value) if value else ():
            if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
                if isinstance(node.value, float):
                    yield made(node, begin(node), end(node), repr(node.value * 1.5))
                elif isinstance(node.value, int):
                    yield made(node, begin(node), end(node), repr(node.value + max(1, node.value // 2)))


def drawn(count: int, seed: int) -> list[Mutant]:
    """That many lines of all modules, each broken in one of its ways."""
    modules = sorted(path for folder in DECIDING for path in (ROOT / folder).rglob("*.py") if "guide" not in path.parts)
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for path in modules:
        for mutant in mutants_of(path, str(path.relative_to(ROOT))):
            lines.setdefault((mutant.path, mutant.line), []).append(mutant)
    chance = random.Random(seed)
    chosen = chance.sample(sorted(lines), min(count, len(lines)))
    return [chance.choice(lines[place]) for place in chosen]


def asked_for(path: str) -> tuple[list[str], list[str]]:
    """The test modules that mirror a module, and the others that import it."""
    module, folder = path.removesuffix(".py").replace("/", "."), Path("tests", path).parent
    mirror = folder / f"test_{Path(path).stem}.py"
    package, _, name = module.rpartition(".")
    named = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{name}\b"
        if name != "__init__"
        else rf"from {re.escape(package)} import\b"
    )
    near: list[str] = []
    far: list[str] = []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        place = test.relative_to(ROOT)
        if place == mirror:
            near.insert(0, str(place))
        elif named.search(test.read_text(encoding="utf-8")):
            near.append(str(place))
        elif place.parent == folder:
            far.append(str(place))
    return near, far


class Copy:
    """A copy of the tree, in which lines are broken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seconds: dict[tuple[str, ...], float | None] = {}
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True, text=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def judge(self, mutant: Mutant) -> str:
        """``killed``, ``survived``, or why neither can be said."""
        near, far = asked_for(mutant.path)
        groups = [tuple(group) for group in (near, far) if group]
        if not groups:
            return "survived"
        file = self._folder / mutant.path
        content = file.read_bytes()
        for group in groups:
            usual = self._usual_seconds(group)
            if usual is None:
                return f"not judged: {' '.join(group)} fail anyway"
            broken = content[: mutant.start] + mutant.instead.encode() + content[mutant.end :]
            file.write_bytes(broken)
            try:
                if not self._pass(group, max(LEAST_SECONDS, TIMES * usual)):
                    return "killed"
            finally:
                file.write_bytes(content)
        return "survived"

    def _usual_seconds(self, tests: tuple[str, ...]) -> float | None:
        """What these tests take where nothing is broken; None where they fail."""
        if tests not in self._seconds:
            began = time.monotonic()
            self._seconds[tests] = time.monotonic() - began if self._pass(tests, LONGEST_SECONDS) else None
        return self._seconds[tests]

    def _pass(self, tests: tuple[str, ...], seconds: float) -> bool:
        """Whether these tests pass in the copy, in that time."""
        words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not alone", *tests]
        try:
            done = subprocess.run(
                words, cwd=self._folder, capture_output=True, timeout=seconds, check=False,
                env=os.environ | {"PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def main() -> int:
    """Break lines, and report."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of lines (100)")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400, help="what draws them (the day)")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="only this part of them, such as 2/10")
    parser.add_argument("--list", action="store_true", help="print the lines, and break none")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    chosen = drawn(asked.count, asked.seed)[part - 1 :: parts]
    print(f"seed {asked.seed}, part {part} of {parts}: {len(chosen)} lines", flush=True)
    if asked.list:
        print("\n".join(mutant.key for mutant in chosen))
        return 0
    FOLDER.mkdir(exist_ok=True)
    written = FOLDER / f"{asked.seed}.jsonl"
    known = [json.loads(line) for line in written.read_text().splitlines()] if written.exists() else []
    results = {one["key"]: one["result"] for one in known}
    with tempfile.TemporaryDirectory(prefix="sharebench-mutants-") as folder:
        copy = Copy(Path(folder))
        for mutant in chosen:
            if mutant.key not in results:
                results[mutant.key] = copy.judge(mutant)
                with written.open("a") as file:
                    file.write(json.dumps({"key": mutant.key, "result": results[mutant.key], **asdict(mutant)}) + "\n")
                print(f"{results[mutant.key]}: {mutant.key}", flush=True)
    mine = [results[mutant.key] for mutant in chosen]
    judged = [result for result in mine if result in {"killed", "survived"}]
    survivors = [mutant.key for mutant in chosen if results[mutant.key] == "survived"]
    print(f"{len(judged)} of {len(mine)} judged, {len(survivors)} survived", *survivors, sep="\n  ")
    return int(len(survivors) > MOST_SURVIVORS * len(judged))


if __name__ == "__main__":
    sys.exit(main())
