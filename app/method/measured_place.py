"""The place that is measured: its share, its server's smb.conf, and what the server had set meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.method.choices import choices_of
from app.method.rounds import recall_choices, series_of_round
from app.server.named_servers import ways_to
from forms import wording
from forms.tuning.catalogue import DEFAULT_CONF, CatalogueEntry, EntryKind, about
from forms.tuning.differences import effective, parameter_of
from forms.tuning.smb_conf import CONF_SET, lines_of_fact, same_value, spelling
from storage.notebook import Notebook
from storage.records import Facts, Series, Target, with_zone

SET = "set in smb.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPlace:
    """What the guide measures, or else the newest series did: its share, its server's smb.conf, and the settings."""

    share: str | None = None
    """None where a protocol without shares is measured, or nothing is yet."""
    conf: str = DEFAULT_CONF
    """The path of smb.conf on the server."""
    series: Series | None = None
    """Which has the settings; None where nothing was measured."""

    @property
    def _facts(self) -> Facts:
        return self.series.environment.get("server", {}) if self.series else {}

    def value(self, name: str) -> str:
        """What the server had when the series was measured; empty where that was not read."""
        value = effective(self._facts, spelling(name).name, in_share=self._is_share_of_series())
        if value is None:
            return ""
        return value or "(empty)"

    def _is_share_of_series(self) -> bool:
        if self.series is None or self.share is None:
            return True
        return self.share.casefold() == (self.series.target.share or "").casefold()

    def mark(self, name: str, default: str | None = None) -> str:
        """That smb.conf sets it; where that was not recorded, that it is not the default; else empty."""
        value = self.value(name)
        if not value:
            return ""
        setting = spelling(name).name
        if CONF_SET in self._facts:
            return SET if setting in lines_of_fact(self._facts, CONF_SET) else ""
        is_usual = default is None or same_value(setting, value.replace("(empty)", ""), default)
        return "" if is_usual else "not the default"

    def had(self, entry: CatalogueEntry) -> tuple[str, str]:
        """The value and its mark; both empty for what is no setting of smbd."""
        name = entry.parameter if entry.kind is EntryKind.SMB_CONF else ""
        return self.value(name), self.mark(name, entry.default)

    def now(self, entry: CatalogueEntry) -> str:
        """The value in words, with where it comes from and when it was read; empty where it was not."""
        value, mark = self.had(entry)
        if not value:
            return ""
        if not mark and CONF_SET in self._facts:
            mark = "not set in smb.conf"
        elif not mark and entry.default is not None:
            mark = "the default"
        in_brackets = f" ({mark})" if mark else ""
        return f"{value}{in_brackets}, when {self.when_measured}"

    @property
    def when_measured(self) -> str:
        series = self.series
        return f"{wording.name_of(series)} was measured ({with_zone(series.created_at)})" if series else ""

    def others(self, words: str) -> tuple[str, ...]:
        """Settings of the server with these words in their names that the catalogue has no entry for."""
        sought = words.casefold().strip()
        names = {name for name in map(parameter_of, self._facts) if name and sought in name}
        return tuple(name for name in sorted(names) if not _has_entry(name))


def _has_entry(name: str) -> bool:
    return any(entry.kind is EntryKind.SMB_CONF for entry in about(name))


def measured_place(notebook: Notebook, practice: Sequence[Target], series_id: str = "") -> MeasuredPlace:
    """Where that series was measured, else where the guide measures, else where the newest series was."""
    series: Series | None
    if series_id:
        series = notebook.series(series_id)
        choices = choices_of(series)
    else:
        choices = recall_choices(notebook, practice)
        series = series_of_round(notebook, choices)
        if series is None and choices.target is None:
            newest_ids = [head.id for head in notebook.heads(1)]
            series = next(iter(notebook.all_of(newest_ids)), None)

    target = choices.target or (series.target if series else None)
    typed_ways = (notebook.remembered(ways_to(target.host)) if target else None) or {}
    facts = series.environment.get("server", {}) if series else {}
    conf = choices.spec.monitor.smb_conf or typed_ways.get("conf") or facts.get("smb.conf.path") or DEFAULT_CONF
    return MeasuredPlace(share=target.share if target else None, conf=str(conf), series=series)
