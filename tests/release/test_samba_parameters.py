"""How the table of parameters is made of what testparm prints and of the lists in Samba's source."""

from __future__ import annotations

import tomllib

from forms.tuning.samba_parameters import Version
from tests.release.samba_parameters import (
    ListedName,
    Release,
    listed_names,
    names_in_source,
    printed_defaults,
    range_of,
    removed_names,
    table_text,
)

LISTING = """[local]
browseable=P_BOOL, (synonyms: browsable)
browsable=P_BOOL,FLAG_SYNONYM (synonym of browseable)
writeable=P_BOOLREV,FLAG_SYNONYM (inverse synonym of read only)
-valid=P_BOOL,
aio read size=P_BYTES,

[global]
smb ports=P_LIST,FLAG_SYNONYM (synonym of server smb transports)
security=P_ENUM,AUTO|USER|DOMAIN|ADS,
"""


def test_the_list_of_testparm_is_read():
    names = {listed.name: listed for listed in listed_names(LISTING)}
    assert names.keys() == {"browseable", "browsable", "writeable", "aio read size", "smb ports", "security"}
    assert names["aio read size"] == ListedName(name="aio read size", scope="share", kind="size")
    assert names["browsable"].synonym_of == "browseable"
    assert names["writeable"].is_opposite
    assert names["security"] == ListedName(name="security", scope="global", kind="choice")
    assert names["smb ports"].synonym_of == "", "facts of older servers have it by this name"


def test_defaults_are_the_samba_s_and_not_the_machine_s():
    printed = "\tserver string = Samba 4.22.11-Debian\n\tnetbios name = SERVER\n\tidmap config * : backend = tdb\n"
    assert printed_defaults(f"# Global parameters\n[global]\n{printed}\tcomment = \n", "4.22.11-Debian") == {
        "server string": "Samba %v", "comment": "",
    }  # fmt: skip


KNOWN: dict[Version, frozenset[str]] = {
    (4, 12): frozenset({"old", "always", "gone before"}),
    (4, 13): frozenset({"old", "always"}),
    (4, 14): frozenset({"always", "new"}),
}


def test_since_and_until_are_the_first_and_the_last_version_with_the_name():
    assert range_of("always", KNOWN) == (None, None)
    assert range_of("Old", KNOWN) == (None, (4, 13))
    assert range_of("new", KNOWN) == ((4, 14), None)
    assert removed_names(KNOWN, (4, 13)) == {"gone before": "4.12"}


def listed(name: str, synonym_of: str = "") -> ListedName:
    return ListedName(name=name, scope="share", kind="choice", synonym_of=synonym_of)


def test_a_name_that_became_a_synonym_is_the_same_parameter():
    older = Release(
        version=(4, 13),
        packages={"samba-libs 1": "ab"},
        names=(listed("smb encrypt"), listed("kept")),
        defaults={"smb encrypt": "default", "kept": 'a "word" \\n'},
        untouched_conf=b"",
        dump=b"",
    )
    newer = Release(
        version=(4, 17),
        packages={"samba-libs 2": "cd"},
        names=(listed("server smb encrypt"), listed("smb encrypt", "server smb encrypt"), listed("kept")),
        defaults={"server smb encrypt": "off", "kept": 'a "word" \\n'},
        untouched_conf=b"",
        dump=b"",
    )
    documented: dict[Version, frozenset[str]] = {
        (4, 12): frozenset({"smb encrypt", "kept"}),
        (4, 14): frozenset({"server smb encrypt", "kept"}),
    }
    table = tomllib.loads(table_text([older, newer], documented))
    assert table["parameters"] == {
        "kept": {"scope": "share", "kind": "choice", "default": 'a "word" \\n'},
        "server smb encrypt": {
            "scope": "share", "kind": "choice", "since": "4.14", "default": {"4.13": "default", "4.17": "off"},
        },
    }  # fmt: skip
    assert table["synonyms"] == {"smb encrypt": "server smb encrypt"}
    assert [row["version"] for row in table["read"]] == ["4.13", "4.17"]
    assert table["read"][0]["sha256"] == {"samba-libs 1": "ab"}


def test_names_are_found_in_samba_s_source():
    found = (
        'samba:parameter name="server smb Encrypt"\n<synonym>smb encrypt\nsamba:parameter  name="fruit:aapl"\nother\n'
    )
    assert list(names_in_source(found)) == ["server smb encrypt", "smb encrypt"]
