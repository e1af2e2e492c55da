"""What ``make mutants`` breaks, and which tests it asks."""

from pathlib import Path

import pytest

from tests.mutants import asked_for, drawn, mutants_of

CODE = """LIMIT = 3
SHARE: float = 0.5

def decide(a, b):  # é
    if a <= LIMIT and not b or a is not None:
        return a in (1, 2)
    return 0 < a < b
"""


def test_each_way_to_break_a_line_and_nothing_else(tmp_path: Path):
    file = tmp_path / "module.py"
    file.write_text(CODE)
    found = list(mutants_of(file, "module.py"))
    content = file.read_bytes()
    broken = {(content[: m.start] + m.instead.encode() + content[m.end :]).decode() for m in found}
    lines = sorted(
        next(b for a, b in zip(CODE.splitlines(), text.splitlines(), strict=True) if a != b).strip() for text in broken
    )
    assert lines == sorted([
        "LIMIT = 4", "SHARE: float = 0.75", "if a < LIMIT and not b or a is not None:",
        "if a <= LIMIT or not b or a is not None:", "if a <= LIMIT and b or a is not None:",
        "if a <= LIMIT and not b and a is not None:", "if a <= LIMIT and not b or a is None:",
        "return a not in (1, 2)", "return 0 <= a < b", "return 0 < a <= b",
    ])  # fmt: skip


@pytest.mark.long
def test_the_draw_is_the_same_for_a_seed_and_hits_a_line_once():
    first = drawn(60, 5)
    assert first == drawn(60, 5) != drawn(60, 6)
    assert len({(mutant.path, mutant.line) for mutant in first}) == 60


def test_the_mirroring_test_comes_first_and_others_of_its_folder_last():
    near, far = asked_for("app/load/judgement.py")
    assert near[0] == "tests/app/load/test_judgement.py"
    assert "tests/app/load/test_users.py" in near
    assert "tests/app/load/test_limits.py" in far
