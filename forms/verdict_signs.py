"""How each verdict is shown: as one sign, and as good or bad."""

from collections.abc import Mapping

from forms.stats.decision import Verdict
from forms.tone import Tone

VERDICT_SIGNS: Mapping[Verdict, str] = {
    Verdict.FASTER: "+",
    Verdict.SLOWER: "-",
    Verdict.SAME: "=",
    Verdict.UNKNOWN: "?",
}
"""Nothing is told by colour alone."""
VERDICT_TONES: Mapping[Verdict, Tone] = {
    Verdict.FASTER: Tone.GOOD,
    Verdict.SLOWER: Tone.BAD,
    Verdict.SAME: Tone.PLAIN,
    Verdict.UNKNOWN: Tone.CAUTION,
}
