"""Exit codes of the commands that answer with verdicts, such as ``compare``."""

from collections.abc import Iterable

NOT_SLOWER = 0
SLOWER = 1
INCONCLUSIVE = 3


def exit_code_of(verdicts: Iterable[str]) -> int:
    """The exit code of the worst verdict: slower is worse than inconclusive."""
    from forms.stats.decision import Verdict

    distinct_verdicts = set(verdicts)
    if Verdict.SLOWER in distinct_verdicts:
        return SLOWER
    if Verdict.UNKNOWN in distinct_verdicts:
        return INCONCLUSIVE
    return NOT_SLOWER
