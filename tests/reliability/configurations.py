"""The campaign of configurations: changed smb.confs of known truth, with the installed testparm as a witness.

Of a change that means the same, testparm prints the same and the audit finds the same. Of one that hides a part, the
audit says so and gives no all-clear. Of one that spoils a line, the audit names it. Of damaged bytes it makes no fault,
and names something harmful where testparm refuses the file.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from app.audit.file_audit import audit_file
from app.base.errors import UsageError
from forms.audit import report
from forms.layout import Sign
from forms.tuning import smb_conf
from storage.looks import Audit, Ruling
from tests.reliability import configuration_changes as changes
from tests.reliability.configuration_samples import IGNORED_KEYS, SAMPLES, VERSION, Sample
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.process import require
from tests.waiting import HANG_SECONDS

MOST = 1000
"""Cases of the long form."""
_KINDS = ("same", "same", "same", "same", "hidden", "hidden", "spoiled", "spoiled", "damaged", "damaged")
"""The kind of a case, by its number: of ten, four mean the same."""
_PLACEHOLDER = re.compile(rb"@@/")
"""Stands for the folder of the files."""

Found = frozenset[tuple[str, str, str]]


def campaign(seconds: float, *, share: Share | None = None, most: int = MOST) -> Figures:
    require("testparm", root=False)
    share = share or Share()
    clock = Clock(seconds)
    for number in share.of_mine(range(most)):
        case = str(number)
        if share.has(case):
            continue
        # At least one case of each kind.
        if clock.is_over() and number >= len(_KINDS):
            break
        with share.carrying_out(case) as figures:
            _case(number, figures)
    return share.figures


def _case(number: int, figures: Figures) -> None:
    chance = random.Random(number)
    sample = SAMPLES[number // len(_KINDS) % len(SAMPLES)]
    kind = _KINDS[number % len(_KINDS)]
    figures.counts[f"{kind} configurations"] += 1
    with tempfile.TemporaryDirectory(prefix="conf-") as folder:
        case = _Case(Path(folder), sample, chance, figures)
        try:
            wrong = getattr(case, kind)()
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
    if wrong:
        figures.losses.append(f"case {number}, {sample.name}, {kind}: {wrong}")


class _Case:
    """A changed configuration in a folder of its own; each kind returns what is wrong, empty where nothing is."""

    def __init__(self, folder: Path, sample: Sample, chance: random.Random, figures: Figures) -> None:
        self._folder, self._sample = folder, sample
        self._chance, self._figures = chance, figures

    def same(self) -> str:
        drawn = self._chance.sample(changes.SAME, self._chance.randint(1, 2))
        files: changes.Files = {changes.MAIN: self._sample.text.encode()}
        applied: list[str] = []
        for change in drawn:
            # The next change works on the text of one file.
            if len(files) > 1:
                break
            text = files[changes.MAIN].decode("utf-8", "replace")
            # What joins lines or adds some is no text of one parameter a line any more.
            if applied and not _is_plain(text):
                break
            files = change(text, self._chance)
            applied.append(change.__name__)

        self._write(files)
        audit, found = self._audited()
        name = " + ".join(applied)
        if _testparm(self._read_path(files)) != _testparm_of_sample(self._sample):
            self._figures.counts["meant something else"] += 1
            return "" if found or audit.unread else f"{name}: testparm prints something else, and nothing was found"
        self._figures.counts["testparm prints the same"] += 1

        found = frozenset(each for each in found if each[2] != "config-file")
        wanted = _findings_of_sample(self._sample)
        if found != wanted:
            return f"{name}: {sorted(found - wanted)} more, {sorted(wanted - found)} less"
        return f"{name}: not read: {audit.unread}" if audit.unread else ""

    def hidden(self) -> str:
        name = self._chance.choice(sorted(changes.HIDDEN))
        self._write(changes.HIDDEN[name](self._sample.text, self._chance))
        audit, _ = self._audited()
        if not audit.unread:
            return f"{name}: an all-clear for what was not read"
        return f"{name}: the sign is that of an all-clear" if report.audit_sign(audit) is Sign.GOOD else ""

    def spoiled(self) -> str:
        change = self._chance.choice(changes.SPOILED)
        spoiled = change(self._sample.text, self._chance)
        self._write(spoiled.files)
        _, found = self._audited()
        if not spoiled.keys:
            return ""
        name = smb_conf.parameter_key(spoiled.name)
        named = {key for section, setting, key in found if setting == name and section == spoiled.section}
        return "" if named & spoiled.keys else f"{change.__name__}: {spoiled.name} is not named: {sorted(found)}"

    def damaged(self) -> str:
        files = changes.damaged(self._sample.text, self._chance)
        self._write(files)
        try:
            audit, found = self._audited()
        except UsageError:
            self._figures.counts["refused as no configuration"] += 1
            return ""
        printed = _testparm(self._folder / changes.MAIN)
        if printed is None:
            self._figures.counts["refused by testparm"] += 1
            is_harmful = audit.count(Ruling.HARMFUL) > 0
            return "" if is_harmful or audit.unread else "testparm refuses the file, and nothing harmful was found"
        unknown = [name for name in _unknown_names(self._folder / changes.MAIN) if name.isascii()]
        named = {smb_conf.squeeze(setting) for _, setting, key in found if key in {"unknown", "removed", "too-new"}}
        missed = [name for name in unknown if smb_conf.squeeze(name) not in named]
        return f"testparm does not know {missed}, and nothing says so" if missed else ""

    def _write(self, files: changes.Files) -> None:
        folder = f"{self._folder}/".encode()
        for name, content in files.items():
            (self._folder / name).write_bytes(_PLACEHOLDER.sub(folder, content))

    def _read_path(self, files: changes.Files) -> Path:
        """What smbd reads; testparm does not follow a `config file`."""
        return self._folder / ("real" if "real" in files else changes.MAIN)

    def _audited(self) -> tuple[Audit, Found]:
        audit = audit_file(str(self._folder / changes.MAIN), VERSION).audit
        return audit, _found_in(audit)


def _found_in(audit: Audit) -> Found:
    return frozenset(
        (finding.section, smb_conf.parameter_key(finding.setting), finding.key)
        for finding in audit.findings
        if finding.key not in IGNORED_KEYS
    )


def _is_plain(text: str) -> bool:
    """Whether each line is a section or a parameter by itself."""
    lines = text.splitlines()
    return all(line[:1] == "[" or (" = " in line and not line.endswith("\\")) for line in lines)


@cache
def _findings_of_sample(sample: Sample) -> Found:
    """What the audit finds in a sample: at least its truth, and nothing else that is harmful."""
    with tempfile.TemporaryDirectory(prefix="conf-") as folder:
        path = Path(folder) / changes.MAIN
        path.write_text(sample.text)
        audit = audit_file(str(path), VERSION).audit
    found = _found_in(audit)
    harmful = {
        (finding.section, smb_conf.parameter_key(finding.setting), finding.key)
        for finding in audit.findings
        if finding.verdict is Ruling.HARMFUL
    }
    truth = {(section, smb_conf.parameter_key(name), key) for section, name, key in sample.truth}
    assert truth <= found, f"{sample.name}: not found: {truth - found}"
    assert harmful <= truth, f"{sample.name}: harmful: {harmful - truth}"
    return found


@cache
def _testparm_of_sample(sample: Sample) -> Mapping[str, frozenset[str]] | None:
    with tempfile.TemporaryDirectory(prefix="conf-") as folder:
        path = Path(folder) / changes.MAIN
        path.write_text(sample.text)
        return _testparm(path)


def _testparm(path: Path) -> Mapping[str, frozenset[str]] | None:
    """What testparm prints of the file, by section; None where it refuses the file."""
    done = subprocess.run(["testparm", "-s", str(path)], capture_output=True, timeout=HANG_SECONDS, check=False)
    if done.returncode or b"Error loading services" in done.stderr:
        return None
    sections: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip().lower(), set())
        # Where a file was included from says nothing of what it says; options of modules keep the case they are in.
        elif line.strip() and not line.strip().startswith(("#", "include =")):
            name, _, value = line.strip().partition(" = ")
            current.add(f"{name.lower()} = {value}")
    return {section: frozenset(lines) for section, lines in sections.items()}


def _unknown_names(path: Path) -> list[str]:
    done = subprocess.run(["testparm", "-s", str(path)], capture_output=True, timeout=HANG_SECONDS, check=False)
    text = done.stderr.decode("utf-8", "replace")
    return re.findall(r'Unknown parameter encountered: "(.*)"', text)
