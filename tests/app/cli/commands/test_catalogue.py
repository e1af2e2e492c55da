"""``sharebench catalogue`` as an admin and as a script meet it."""

import json

import pytest

from app.cli.main import run


def catalogue(*arguments: str) -> int:
    return run(["catalogue", *arguments], lambda *_args, **_more: 0)


def test_what_is_worth_trying_is_listed_and_the_rest_is_counted(capsys):
    assert catalogue() == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[1].split()[:3] == ["1", "server", "signing"]
    assert 15 < len(lines) < 40
    assert not {"read raw", "fake oplocks", "vfs objects: acl_xattr"} & {line[4:46].strip() for line in lines}
    assert catalogue("--all") == 0
    entries = sum(line[:3].strip().isdecimal() for line in capsys.readouterr().out.splitlines())
    assert err == f"{entries - len(lines) + 1} more entries: sharebench catalogue --all\n"


def test_the_whole_list_is_in_order_and_fits(capsys):
    assert catalogue("--all") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[1].split()[:3] == ["1", "server", "signing"]
    assert len(lines) > 100
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if line.split()[1:3] == ["read", "size"]).split()[-4:] == [
        "removed",
        "in",
        "3.0.2",
        "never",
    ]


def test_one_entry_with_its_line_and_commands(capsys):
    assert catalogue("dead time", "--value", "15", "--smb-conf", "/srv/my conf/smb.conf") == 0
    out = capsys.readouterr().out
    for words in ("deadtime", "10080", "[global]\n        deadtime = 15\n", "' smbd reload-config"):
        assert words in out
    assert "testparm -s '/srv/my conf/smb.conf'" in out
    assert "--change deadtime=15" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_share_names_the_section(capsys):
    assert catalogue("strict sync", "--share", "data", "--value", "no") == 0
    assert "    [data]\n        strict sync = no\n" in capsys.readouterr().out


def test_a_parameter_with_several_entries_and_words_to_search_for_give_a_list(capsys):
    assert catalogue("socket options") == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 7
    assert catalogue("power failure") == 0
    assert "strict sync" in capsys.readouterr().out


def test_the_documents(capsys):
    assert catalogue("--json") == 0
    everything = json.loads(capsys.readouterr().out)
    assert everything["schema"] == "sharebench/catalogue/1"
    assert [entry["rank"] for entry in everything["entries"]] == list(range(1, len(everything["entries"]) + 1))
    assert 15 < sum(entry["worth_trying"] for entry in everything["entries"]) < 40
    assert catalogue("use sendfile", "--json") == 0
    (entry,) = json.loads(capsys.readouterr().out)["entries"]
    assert (entry["kind"], entry["status"], entry["takes_effect"]) == ("smb.conf", "exists", "running sessions")
    assert entry["needs"]["options"] == {"aio read size": "0"}
    assert entry["needs"]["session"] == ["unsigned", "unencrypted"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("strickt sync",), "did you mean strict sync? (`sharebench catalogue --all` lists all)\n"),
        (("zebra",), "`sharebench catalogue --all` lists all"),
        (("socket options", "--value", "1"), "--value belongs to one NAME"),
        (("--value", "1"), "--value belongs to one NAME"),
    ],
)
def test_wrong_words(arguments, words, capsys):
    assert catalogue(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


def test_misprints_of_the_sources_are_told_with_their_parameter(inside):
    assert "The parameter is lpq cache time." in " ".join(inside("catalogue", "lpq cache time").stdout.split())
    assert "hides every name that contains a dot" in inside("catalogue", "veto files").stdout
    entry = json.loads(inside("catalogue", "log level", "--json").stdout)["entries"][0]
    assert entry["misprints"] == [
        'Using Samba, appendix B: "Logging at level 3 costs roughly 5 %: from 645.3 to 622.2 KB/s." That is 3.6 %.'
    ]
