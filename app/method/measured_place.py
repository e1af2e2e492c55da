"""The share that is measured, and the settings of its Samba server as they were when it was measured.

The catalogue of settings and the trial's screen show them beside each setting.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.audit import earlier_looks
from app.method import rounds
from app.method.choices import choices_of
from app.method.known_ways import read_ways
from forms import wording
from forms.tuning import catalogue, differences, fact_names, instructions, needed_settings, smb_conf
from storage.looks import Audit
from storage.notebook import Notebook
from storage.records import ExperimentKind, Facts, Series, Target, with_zone

SET = "set in smb.conf"
"""The mark of a setting that smb.conf sets."""
_DEFAULT = "the default"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPlace:
    """A share, its server's smb.conf, and the series that recorded the server's settings."""

    share: str | None = None
    """None where a protocol without shares is measured, or nothing is yet."""
    conf: str = instructions.DEFAULT_CONF
    """The path of smb.conf on the server."""
    series: Series | None = None
    """The series whose environment has the settings; None where nothing was measured."""
    audit: Audit | None = None
    """The newest audit that read the settings of that server; None where none did."""

    @property
    def _facts(self) -> Facts:
        """What was recorded of the server."""
        return self.series.environment.get("server", {}) if self.series else {}

    def value(self, name: str) -> str:
        """What the server had when the series was measured; empty where that was not read."""
        value = differences.effective(self._facts, smb_conf.spelling(name).name, in_share=self._is_share_of_series())
        if value is None:
            return ""
        return value or "(empty)"

    def _is_share_of_series(self) -> bool:
        if self.series is None or self.share is None:
            return True
        return self.share.casefold() == (self.series.target.share or "").casefold()

    def mark(self, name: str, default: str | None = None) -> str:
        """A mark for a setting that smb.conf sets, or where that was not recorded, that has not the default value.

        Empty for all others.
        """
        value = self.value(name)
        if not value:
            return ""
        setting = smb_conf.spelling(name).name
        if fact_names.CONF_SET in self._facts:
            return SET if setting in fact_names.lines_of_fact(self._facts, fact_names.CONF_SET) else ""
        is_usual = default is None or smb_conf.same_value(setting, value.replace("(empty)", ""), default)
        return "" if is_usual else "not the default"

    def value_and_mark(self, entry: catalogue.CatalogueEntry) -> tuple[str, str]:
        """The value and its mark; both empty for what is no setting of smbd."""
        name = entry.parameter if entry.kind is catalogue.EntryKind.SMB_CONF else ""
        return self.value(name), self.mark(name, entry.default)

    def value_in_words(self, entry: catalogue.CatalogueEntry) -> str:
        """The value, where it comes from and when it was read, as ``yes (the default), when …``; empty if not read."""
        value, mark = self.value_and_mark(entry)
        if not value:
            return ""
        if not mark and fact_names.CONF_SET in self._facts:
            mark = "not set in smb.conf"
        elif not mark and entry.default is not None:
            mark = _DEFAULT
        in_brackets = f" ({mark})" if mark else ""
        return f"{value}{in_brackets}, when {self.when_measured}"

    def sections_to_change(self, entry: catalogue.CatalogueEntry, value: str | None = None) -> tuple[str, ...]:
        """The sections whose line of the setting says another value, as they were read last; empty if not read.

        ``value`` is the suggested one where none is named.
        """
        if self.audit is None or entry.kind is not catalogue.EntryKind.SMB_CONF:
            return ()
        value = instructions.suggested_value(entry) if value is None else value
        lines = [
            line for line in self.audit.settings if line.line and smb_conf.spelling(line.name).name == entry.parameter
        ]
        return tuple(line.section for line in lines if not smb_conf.same_value(entry.parameter, line.value, value))

    def settings_needed_by(self, entry: catalogue.CatalogueEntry) -> dict[str, needed_settings.SettingInEffect]:
        """What the server has of the settings that the entry needs, as they were read last; empty if not read."""
        needed = {option: self._setting_in_effect(option) for option in entry.needs.options}
        return {option: setting for option, setting in needed.items() if setting is not None}

    def _setting_in_effect(self, name: str) -> needed_settings.SettingInEffect | None:
        """By the audit or the series, whichever read the settings last; None where neither has it."""
        in_audit = self._setting_of_audit(name)
        value = self.value(name)
        is_series_newer = (
            self.series is not None and self.audit is not None and self.series.created_at > self.audit.created_at
        )
        if not value or (in_audit is not None and not is_series_newer):
            return in_audit
        is_set = self.mark(name, needed_settings.default_of(name)) != ""
        return needed_settings.SettingInEffect(value=value.replace("(empty)", ""), origin=SET if is_set else _DEFAULT)

    def _setting_of_audit(self, name: str) -> needed_settings.SettingInEffect | None:
        """The share's own line, else that of [global], else the default; None where no audit read all of them."""
        if self.audit is None:
            return None

        lines = [line for line in self.audit.settings if smb_conf.spelling(line.name).name == name]
        for section in ((self.share or "").casefold(), "global"):
            # Of two lines in one section the last one counts.
            of_section = [line for line in lines if line.section.casefold() == section]
            if of_section:
                line = of_section[-1]
                value = smb_conf.opposite_value(line.value) if smb_conf.spelling(line.name).opposite else line.value
                return needed_settings.SettingInEffect(value=value, origin=SET if line.line else _DEFAULT)

        if self.audit.unread:
            return None
        default = needed_settings.default_of(name, fact_names.samba_version(self.audit.facts))
        return needed_settings.SettingInEffect(value=default, origin=_DEFAULT) if default is not None else None

    @property
    def when_measured(self) -> str:
        series = self.series
        return f"{wording.name_of(series)} was measured ({with_zone(series.created_at)})" if series else ""

    def settings_without_entry(self, words: str) -> tuple[str, ...]:
        """Settings of the server with these words in their names that the catalogue has no entry for."""
        sought = words.casefold().strip()
        names = {name for name in map(differences.parameter_of, self._facts) if name and sought in name}
        return tuple(name for name in sorted(names) if not _has_entry(name))


def _has_entry(name: str) -> bool:
    return any(entry.kind is catalogue.EntryKind.SMB_CONF for entry in catalogue.about(name))


_MOST_LOOKED_AT = 50
"""Of the newest series, of which a trial or sweep has a few."""
_RESTORED_KINDS = frozenset({ExperimentKind.TRIAL, ExperimentKind.SWEEP})
"""Kinds of experiments that restore what they change."""


def _newest_as_it_is(notebook: Notebook) -> Series | None:
    """The newest series, but for those with a value that a trial tried and restored: the server has it no more."""
    for head in notebook.heads(_MOST_LOOKED_AT):
        experiment = notebook.experiment_called(head.experiment) if head.experiment else None
        is_of_tried_value = head.change is not None and experiment is not None and experiment.kind in _RESTORED_KINDS
        if not is_of_tried_value:
            return next(iter(notebook.all_of([head.id])), None)
    return None


def measured_place(
    notebook: Notebook, practice: Sequence[Target], series_id: str = "", looked_at: Target | None = None
) -> MeasuredPlace:
    """Where that series was measured, else where the guide measures, else where the newest series or diagnosis was.

    ``looked_at`` is a share that was diagnosed or audited, which comes before all of them.
    """
    if looked_at is not None:
        return _looked_at_place(notebook, looked_at)

    series: Series | None
    if series_id:
        series = notebook.series(series_id)
        choices = choices_of(series)
    else:
        choices = rounds.recall_choices(notebook, practice)
        series = rounds.series_of_round(notebook, choices)
        if series is None and choices.target is None:
            series = _newest_as_it_is(notebook)

    target = choices.target or (series.target if series else None)
    diagnosed = earlier_looks.share_diagnosed_last(notebook) if target is None else None
    if diagnosed is not None:
        return _looked_at_place(notebook, diagnosed)

    told_conf = read_ways(notebook, target.host).conf if target else ""
    facts = series.environment.get("server", {}) if series else {}
    conf = choices.spec.monitor.smb_conf or told_conf or facts.get("smb.conf.path") or instructions.DEFAULT_CONF
    audit = earlier_looks.settings_of(notebook, target) if target else None
    return MeasuredPlace(share=target.share if target else None, conf=str(conf), series=series, audit=audit)


def _looked_at_place(notebook: Notebook, target: Target) -> MeasuredPlace:
    """A share that no series was measured of, or is not asked about here."""
    conf = read_ways(notebook, target.host).conf or instructions.DEFAULT_CONF
    return MeasuredPlace(share=target.share, conf=conf, audit=earlier_looks.settings_of(notebook, target))
