"""The catalogue, held against the installed Samba."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import mean, stdev

import pytest

from forms.isolation.document import EXAMPLES
from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import CatalogueEntry, Effect, EntryKind, Status, misprints, misprints_about, relevant
from forms.tuning.catalogue_text import HISTORY, list_text
from forms.tuning.instructions import suggested_value
from forms.worksheets.references import BOOK_TABLES, TABLES
from storage.records import Command
from tests.builders import CLIENT, series
from tests.cases import for_each
from tests.servers.process import require
from tests.servers.samba_version import MEASURED, installed_samba, version_numbers
from tests.waiting import HANG_SECONDS

ENTRIES = catalogue.entries()
OF_SMB_CONF = [e for e in ENTRIES if e.kind is EntryKind.SMB_CONF]
EXISTING = [e for e in OF_SMB_CONF if e.status in (Status.EXISTS, Status.SMB1_ONLY)]


@pytest.fixture(scope="module")
def defaults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every parameter with its default, as testparm prints it; -d0, or it prints its own log level."""
    require("testparm", root=False)
    file = tmp_path_factory.mktemp("defaults") / "smb.conf"
    file.write_text("[global]\n")
    done = subprocess.run(
        ["testparm", "-d0", "-sv", str(file)], capture_output=True, text=True, check=True, timeout=HANG_SECONDS
    )
    lines = (line.partition("=") for line in done.stdout.splitlines() if line.startswith("\t"))
    return {name.strip(): value.strip() for name, _, value in lines}


@for_each("entry", EXISTING, lambda e: e.name)
def test_what_is_said_to_exist_does_with_the_default_that_is_said(
    entry: CatalogueEntry, defaults: dict[str, str]
) -> None:
    assert entry.parameter in defaults
    if entry.default is None:
        assert "16384" in entry.status_note, "only the system's limit has no default of its own"
    else:
        assert smb_conf.same_value(entry.parameter, defaults[entry.parameter], entry.default)


@for_each("entry", [e for e in OF_SMB_CONF if e not in EXISTING], lambda e: e.name)
def test_what_is_removed_or_newer_than_the_installed_samba_is_not_known(
    entry: CatalogueEntry, defaults: dict[str, str], tmp_path: Path
) -> None:
    is_known = entry.since is not None and version_numbers(entry.since) <= installed_samba()
    if entry.parameter == "vfs objects":
        require("smbd", root=False)
        built = subprocess.run(["smbd", "-b"], capture_output=True, text=True, check=True, timeout=HANG_SECONDS).stdout
        modules = re.search(r"MODULESDIR: (\S+)", built)
        assert modules
        assert Path(modules[1], "vfs", f"{entry.values[-1]}.so").exists() == is_known
        return
    assert (entry.parameter in defaults) == is_known
    file = tmp_path / "smb.conf"
    file.write_text(f"[global]\n{entry.parameter} = yes\n")
    done = subprocess.run(
        ["testparm", "-s", str(file)], capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
    assert (f'Unknown parameter encountered: "{entry.parameter}"' in done.stderr) != is_known


@for_each("entry", OF_SMB_CONF, lambda e: e.name)
def test_scope_and_values_fit_the_parameter(entry: CatalogueEntry) -> None:
    parameter = smb_conf.spelling(entry.parameter).parameter
    if entry.status is Status.REMOVED:
        last = smb_conf.spelling(entry.parameter).removed_after(smb_conf.parameter_table().newest)
        removed_in = version_numbers(entry.removed_in or "")
        # The table begins with 4.0.
        assert last == (removed_in[0], removed_in[1] - 1) if removed_in > (4, 0) else parameter is None
        return
    assert parameter is not None
    assert parameter.scope == entry.scope
    is_newer = entry.status is Status.NEWER and entry.parameter != "vfs objects"
    assert parameter.is_in(MEASURED) != is_newer
    if is_newer:
        assert parameter.since == version_numbers(entry.since or "")
    assert [smb_conf.refusal(entry.parameter, value) for value in entry.values] == [None] * len(entry.values)


def test_testparm_takes_every_value(tmp_path: Path) -> None:
    require("testparm", root=False)
    file = tmp_path / "smb.conf"
    for place in range(max(len(e.values) for e in EXISTING)):
        lines = [f"{e.parameter} = {e.values[place]}\n" for e in EXISTING if place < len(e.values)]
        file.write_text("[global]\n" + "".join(lines))
        done = subprocess.run(
            ["testparm", "-s", str(file)], capture_output=True, text=True, check=False, timeout=HANG_SECONDS
        )
        assert done.returncode == 0, done.stderr


@for_each("entry", ENTRIES, lambda e: e.name)
def test_every_entry_says_what_an_admin_must_know(entry: CatalogueEntry) -> None:
    assert all((entry.does, entry.expect, entry.sources, entry.risk))
    assert entry.values or entry.status is Status.REMOVED
    assert entry.seen_by or entry.takes_effect is Effect.NEVER or entry.kind is EntryKind.SMB_CONF
    assert (entry.removed_in is not None) == (entry.status is Status.REMOVED)
    assert (entry.since is not None) == (entry.status is Status.NEWER)
    assert (entry.status is Status.SMB1_ONLY) == ("smb1" in entry.needs.session)
    assert not (entry.needs.options or entry.needs.session) or entry.needs.text
    assert all(smb_conf.spelling(name).parameter for name in entry.needs.options)
    assert all(catalogue.about(name) for name in entry.replaced_by)


def test_ranks_count_from_one_and_names_are_unique() -> None:
    assert [e.rank for e in ENTRIES] == list(range(1, len(ENTRIES) + 1))
    keys = [key for e in ENTRIES for key in {smb_conf.squeeze(name) for name in (e.name, *e.synonyms)}]
    assert [key for key in keys if keys.count(key) > 1] == []


def test_what_matters_today_comes_first_and_history_last() -> None:
    names = [e.name for e in ENTRIES]
    assert names[:4] == ["server signing", "server smb encrypt", "server multi channel support", "aio read size"]
    history = [e.is_history for e in ENTRIES]
    assert history == sorted(history)
    assert {e.name for e in ENTRIES if e.is_history} >= {"read raw", "share modes"}
    text = list_text(ENTRIES)
    assert text.index(HISTORY[Status.SMB1_ONLY]) < text.index(HISTORY[Status.REMOVED])
    removed = text.partition(HISTORY[Status.REMOVED])[2].strip().splitlines()
    assert [line[4:46].strip() for line in removed] == [e.name for e in ENTRIES if e.status is Status.REMOVED]
    assert all("removed in" in line for line in removed)


def test_only_what_can_matter_to_a_series_is_offered() -> None:
    signed = series([1e8], client=replace(CLIENT, signing="aes-gmac"))
    assert [e.parameter for e in islice(relevant(signed), 3)] == [
        "server signing",
        "server multi channel support",
        "aio read size",
    ]
    put = {e.parameter for e in islice(relevant(series([1e8], command=Command.PUT)), 5)}
    assert {"aio write size", "strict sync", "min receivefile size"} <= put
    assert not put & {"server signing", "aio read size", "use sendfile"}
    for facts, sends_files in (
        (CLIENT, True),
        (replace(CLIENT, signing="aes-cmac"), False),
        (replace(CLIENT, encryption="aes-128-gcm"), False),
    ):
        for command, name in ((Command.GET, "use sendfile"), (Command.PUT, "min receivefile size")):
            protected = series([1e8], command=command, client=facts)
            assert (name in {entry.parameter for entry in relevant(protected)}) is sends_files, (facts, name)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("log level", "log level"),
        ("Debug  Level", "log level"),
        ("dead time", "deadtime"),
        ("DEADTIME", "deadtime"),
        ("smb encrypt", "server smb encrypt"),
        ("max protocol", "server max protocol"),
        ("TCP_NODELAY", "socket options: TCP_NODELAY"),
        ("read size", "read size"),
        ("jumbo frames", "MTU"),
        ("rsize", "mount.cifs rsize"),
    ],
)
def test_an_entry_is_found_by_name_synonym_and_parameter(typed: str, name: str) -> None:
    assert catalogue.find(typed).name == name


@for_each("entry", catalogue.entries())
def test_an_entry_comes_first_where_its_name_is_sought(entry: CatalogueEntry) -> None:
    assert catalogue.search(entry.name)[0] == entry


def test_a_parameter_with_several_entries_gives_them_all() -> None:
    assert [e.parameter for e in catalogue.about("socket options")] == ["socket options"] * 7


def test_a_name_that_is_not_there_has_suggestions() -> None:
    with pytest.raises(catalogue.UnknownEntryError, match="did you mean strict sync"):
        catalogue.find("strickt sync")
    with pytest.raises(catalogue.UnknownEntryError, match=r"^the catalogue has nothing called 'banana'$"):
        catalogue.find("banana")


def test_a_search_puts_names_first_and_needs_every_word() -> None:
    found = [e.name for e in catalogue.search("encrypt")]
    assert found[0] == "server smb encrypt"
    assert "use sendfile" not in [e.name for e in catalogue.search("encrypt algorithms")]
    assert catalogue.search("") == ENTRIES
    assert catalogue.search("zebra") == ()


B9 = (761_580, 767_820, 747_420, 760_020, 772_700)


def right(key: str) -> str:
    return next(one.right for one in misprints() if one.key == key)


def test_each_is_about_something_that_is_shown():
    shown = {name for entry in catalogue.entries() for name in (entry.name, entry.parameter)}
    shown |= {reference.name for table in TABLES.values() for reference in table} | {*BOOK_TABLES, *EXAMPLES}
    shown |= {"B-1", "B-6", "B-7", "B-9", "time-to-tune", "usual-ratio", "disk", "security", "veto files"}
    for one in misprints():
        assert set(one.about) <= shown, one.key
        assert one.source
        assert one.printed != one.right
    assert len({one.key for one in misprints()}) == len(misprints()) >= 30


def test_table_b9():
    size = 1_812_898
    assert f"average {mean(B9):,.0f} bytes/s, {8 * mean(B9):,.0f} bits/s and {100 * 8 * mean(B9) / 1e7:.0f} %" in right(
        "table-b9"
    )
    assert [
        n for n, rate in enumerate(B9, 1) if f"{size / rate:.1f}" != ("2.3", "2.3", "2.4", "2.3", "2.3")[n - 1]
    ] == [
        1,
        2,
        4,
    ]
    assert stdev(B9) < 10_000
    assert [one.key for one in misprints_about("B-9") if 777_310 in one.numbers] == ["table-b9"]
    assert not [one.key for one in misprints_about("B-9") if 761_908 in one.numbers]


def test_what_can_be_computed_is():
    assert f"{100 * (645.3 - 622.2) / 645.3:.1f} %" in right("log-level")
    shares = [100 * tuned / ftp for tuned, ftp in ((866.7, 1014.5), (329.5, 379.8), (725, 973.27), (1100, 1014.5))]
    assert sum(68 <= share <= 80 for share in shares) == 1
    assert ", ".join(f"{share:.1f}" for share in shares[:3]) + f" and {shares[3]:.1f} %" in right("usual-share")
    assert f"{100 * (386.1 - 329.5) / 386.1:.1f} %" in right("tuned-put")
    assert f"{145_079_345 / 1_335_959:.1f} µs" in right("stat-2003")
    assert f"{36 * 2.3 * 12:.1f} KB/s" in right("office-clients")
    assert f"{960 // (2.3 * 12):.0f} fit" in right("office-clients")
    assert str(10 * 1460) in right("ibm-buffers")


def test_names_are_found_in_any_case():
    assert misprints_about("Veto Files") == misprints_about("veto files") != ()
    assert misprints_about("no such thing") == ()


_SPEAKS_OF_ONE_VALUE = re.compile(
    r"\b(With (?:no|yes)|Without it|when (?:on|off)\b|Off\b|On,|On keeps|At 0|safer value|taken away|Required)"
)


@for_each("entry", [e for e in ENTRIES if _SPEAKS_OF_ONE_VALUE.search(e.risk) and e.values], lambda e: e.name)
def test_a_risk_of_one_value_is_told_of_each(entry: CatalogueEntry) -> None:
    """Else the risk of what is about to be done would be that of something else."""
    for value in (*entry.values, suggested_value(entry)):
        risk = catalogue.risk_with_value(entry, value)
        assert risk.casefold().startswith(f"{value or '(empty)'}: ".casefold()), value


def test_the_risk_is_that_of_the_value_however_it_is_spelled() -> None:
    sync_always = catalogue.find("sync always")
    assert "power cut" in catalogue.risk_with_value(sync_always, "no")
    assert catalogue.risk_with_value(sync_always, "False") == catalogue.risk_with_value(sync_always, "no")
    assert "power cut" not in catalogue.risk_with_value(sync_always, "Yes")
    assert catalogue.risk_with_value(catalogue.find("log level"), "2") == catalogue.find("log level").risk
    assert catalogue.risk_with_value(sync_always, "maybe") == sync_always.risk
