"""Evidence files: signed by a real ssh key, verified without a notebook; whatever is changed is refused."""

import json
import os
import random
import subprocess
import zipfile
from pathlib import Path

import pytest
from pypdf import PdfReader

from app.evidence import file as evidence
from app.evidence.file import CHANGED, NOT_SIGNED, UNCHANGED, verify
from storage import anonymous
from storage.notebook import Notebook
from storage.notebook_file import NotebookDatabase
from storage.records import MEASURED_FROM, Target
from tests.builders import book, one
from tests.command_line import Inside
from tests.recordings import MAKERS
from tests.servers.process import require

TARGET = Target(protocol="smb", host="nas", share="data", path="big.bin", user="alice")
CHANGES = int(os.environ.get("SHAREBENCH_CHANGED_BYTES", "40"))
"""500 before a release."""
KINDS = ("series", "load", "isolation", "audit", "trial")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("ssh-keygen", root=False)
    folder = tmp_path_factory.mktemp("keys")
    for name in ("mine", "other"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "someone@somewhere", "-f", str(folder / name)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def signed(keys: Path) -> bytes:
    with Notebook(keys / "notebook.db") as notebook:
        made = [MAKERS[kind](notebook) for kind in KINDS]
    done = Inside(keys / "notebook.db", None)("export", *made, "--sign", str(keys / "mine"), "-o", str(keys / "e.json"))
    assert done.returncode == 0, done.stderr
    return (keys / "e.json").read_bytes()


def test_an_unchanged_file_of_every_kind_says_who_signed_it_and_needs_no_notebook(
    signed: bytes, keys: Path, tmp_path: Path
):
    document = json.loads(signed)
    assert [one["schema"].split("/")[1] for one in document["recordings"]] == list(KINDS)
    file = tmp_path / "e.json"
    file.write_bytes(signed)
    elsewhere = Inside(tmp_path / "none.db", None)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", keys / "mine.pub"], capture_output=True, text=True, check=True)
    for words in (
        (),
        ("--key", str(keys / "mine.pub")),
        ("--key", str(keys / "other.pub"), "--key", str(keys / "mine.pub")),
    ):
        done = elsewhere("verify", str(file), *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert shown.stdout.split()[1] in done.stdout
    done = elsewhere("verify", str(file), "--key", str(keys / "other.pub"))
    assert done.returncode == 2
    assert shown.stdout.split()[1] in done.stdout
    file.write_bytes(signed + b"\n")
    assert elsewhere("verify", str(file)).returncode == 1
    assert not (tmp_path / "none.db").exists()


def test_every_changed_byte_is_refused(signed: bytes, keys: Path):
    chance = random.Random(29)
    begins = signed.rindex(b'"signature"')
    places = {*chance.sample(range(begins), CHANGES * 3 // 4), *chance.sample(range(begins, len(signed)), CHANGES // 4)}
    for place in sorted(places):
        byte = bytes([signed[place] ^ (1 << chance.randrange(8))])
        found = verify(signed[:place] + byte + signed[place + 1 :], [keys / "mine.pub"])
        assert found.exit_code == CHANGED, (place, byte)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"\n",
        lambda text: b" " + text,
        lambda text: text.replace(b'\n "signature"', b'\n  "signature"'),
        lambda text: text[:-5] + (b"B" if text[-5:-4] == b"A" else b"A") + text[-4:],
        lambda text: text.removesuffix(b"\n"),
        lambda text: text.replace(b"\n", b"\r\n"),
    ],
)
def test_what_json_readers_do_not_see_is_a_change_too(signed: bytes, change):
    assert verify(change(signed)).exit_code == CHANGED


def test_averages_that_were_changed_before_signing_are_found(signed: bytes, keys: Path):
    documents = json.loads(signed)["recordings"]
    assert verify(evidence.sign(documents, keys / "mine")).exit_code == UNCHANGED
    documents[0]["average"]["bytes_per_second"] *= 1.000001
    found = verify(evidence.sign(documents, keys / "mine"), [keys / "mine.pub"])
    assert found.exit_code == CHANGED
    assert "average.bytes_per_second" in found.text
    documents[4]["series"][1]["runs"][3]["seconds"] *= 2
    documents[0] = json.loads(signed)["recordings"][0]
    assert verify(evidence.sign(documents, keys / "mine")).exit_code == CHANGED


def test_what_is_not_signed_is_told_apart_from_what_is_changed(signed: bytes, keys: Path, tmp_path: Path):
    for content in (b"", b"{}", json.dumps(json.loads(signed)["recordings"]).encode(), b"\xff" * 40):
        assert verify(content).exit_code == NOT_SIGNED
    inside = Inside(tmp_path / "none.db", None)
    done = inside("verify", str(tmp_path / "missing.json"))
    assert (done.returncode, done.stdout) == (2, "")
    (tmp_path / "e.json").write_bytes(signed)
    assert "has no public key" in inside("verify", str(tmp_path / "e.json"), "--key", str(tmp_path / "e.json")).stderr
    (tmp_path / "keys").write_text(f"# {(keys / 'mine.pub').read_text()}{(keys / 'other.pub').read_text()}")
    assert verify(signed, [tmp_path / "keys"]).exit_code == NOT_SIGNED, "a key behind # is none"


def test_only_json_of_recordings_is_signed(tmp_path: Path, keys: Path):
    inside = Inside(book(tmp_path / "a.db", one(1)), None)
    for words in (("--format", "pdf"), ("--blank",), ("--form", "comparison"), ("--print",)):
        names = () if words == ("--blank",) else ("last", "last")
        done = inside("export", *names, *words, "--sign", str(keys / "mine"))
        assert (done.returncode, "--sign" in done.stderr) == (2, True), words
    done = inside("export", "last", "--sign", str(keys / "missing"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def whole_text(path: Path) -> str:
    """Everything that a PDF or a workbook says, its properties included; lines joined."""
    if path.suffix == ".pdf":
        reader = PdfReader(path)
        text = "\n".join([str(reader.metadata), *(page.extract_text() for page in reader.pages)])
    else:
        with zipfile.ZipFile(path) as parts:
            text = "\n".join(parts.read(name).decode("utf-8", "replace") for name in parts.namelist())
    return " ".join(text.split())


def test_an_anonymous_export_names_no_user_in_any_format(tmp_path: Path, keys: Path):
    target = Target(
        protocol="smb", host="nas", port=445, share="homes", path="alice/big.bin", user="alice", domain="CORP"
    )
    client = {"measured.by": "Alice Miller", "mount.options": "rw,username=alice,domain=CORP", "host.name": "desk"}
    series = one(
        1,
        target=target,
        note="alice's desk, CORP\\alice; ali stays",
        label="for Alice",
        environment={"client": client},
    )
    inside = Inside(book(tmp_path / "a.db", series), None)
    with Notebook(tmp_path / "a.db") as notebook:
        load = MAKERS["load"](notebook)
    for name in ("text", "markdown", "csv", "html", "json"):
        text = inside("export", "last", f"{1:012x}", "--format", name).stdout
        assert "alice" in text
        hidden = inside("export", load, f"{1:012x}", "--format", name, "--anonymous")
        assert hidden.returncode == 0, hidden.stderr
        told = hidden.stdout.casefold()
        assert not [word for word in ("alice", "corp", "miller") if word in told], name
        assert "ali stays" in hidden.stdout
    for name in ("pdf", "xlsx"):
        path = tmp_path / f"hidden.{name}"
        done = inside("export", load, f"{1:012x}", "-o", str(path), "--anonymous")
        assert done.returncode == 0, done.stderr
        told = whole_text(path).casefold()
        assert "ali stays" in told
        assert not [word for word in ("alice", "corp", "miller") if word in told], name
    assert "alice" in json.dumps(inside.json("show", f"{1:012x}", "--json"))
    done = inside("export", load, f"{1:012x}", "--anonymous", "--sign", str(keys / "mine"))
    assert verify(done.stdout.encode()).exit_code == UNCHANGED
    assert "alice" not in done.stdout.casefold()


@pytest.mark.long
def test_names_are_found_inside_longer_words_and_our_own_words_stay(tmp_path: Path):
    """Of four letters or more; shorter ones as a word, and one that is a word of ours where only a user can be."""
    cases = {
        "zorblax": ("zorblax_backup.iso", "zorblaxes", "zorblax_2", "Zorblax's"),
        "al": ("al's", "(al)"),
        "get": ("//get@", "/home/get/", "username=get"),
        "smb": ("//smb@", "/home/smb/", "username=smb"),
    }
    kept = {
        "al": ("alice_backup.iso", "pal"),
        "get": ("get it", "widgets"),
        "smb": ("smb://", "smbd"),
        "root": ("root",),
    }
    for user in (*cases, "root"):
        told = " ".join((*cases.get(user, ()), *kept.get(user, ())))
        target = Target(protocol="smb", host="nas", share="data", path=f"{user}/{told}/big.bin", user=user)
        series = one(1, target=target, note=told, label=told, experiment=f"try of {user} {told}")
        inside = Inside(book(tmp_path / f"{user}.db", series), None)
        for form in (("last",), ("--form", "experiment", f"try of {user} {told}")):
            for name in ("text", "markdown", "csv", "html", "json"):
                done = inside("export", *form, "--format", name, "--anonymous")
                assert done.returncode == 0, done.stderr
                text = done.stdout.replace("\\/", "/").casefold().replace("&#x27;", "'").replace("&#39;", "'")
                assert not [word for word in cases.get(user, ()) if word.casefold().strip() in text], (user, name)
        document = json.loads(inside("export", "last", "--format", "json", "--anonymous").stdout)
        assert not [word for word in kept.get(user, ()) if word not in document["note"]], (user, document["note"])
        ours = (document["id"], document["command"], document["target"]["protocol"], document["status"])
        assert ours == (series.id, "get", "smb", "complete")
        assert [run["seconds"] for run in document["runs"]] == [run.seconds for run in series.runs]
        assert document["target"]["user"] == "user"


@pytest.mark.parametrize(
    ("address", "anonymous"), [("zoe@branch", "user@branch"), ("root@branch", "root@branch"), ("branch", "branch")]
)
def test_the_user_of_a_machine_that_measured_is_left_out_and_the_machine_stays(tmp_path, address, anonymous):
    series = one(1, target=TARGET, environment={"client": {MEASURED_FROM: address}}, note="as zoe asked")
    inside = Inside(book(tmp_path / "a.db", series), None)
    hidden = json.loads(inside("export", "last", "--format", "json", "--anonymous").stdout)
    assert hidden["environment"]["client"][MEASURED_FROM] == anonymous
    assert ("zoe" in hidden["note"]) == ("zoe" not in address)


def test_two_experiments_that_differ_in_a_users_name_stay_two(tmp_path: Path):
    both = (one(1, experiment="alice 1", target=TARGET), one(2, experiment="user 1", target=TARGET))
    inside = Inside(book(tmp_path / "a.db", *both, baselines={"of alice": both[0].id}), None)
    for name, series in (("alice 1", both[0]), ("user 1", both[1])):
        document = inside.json("export", "--form", "experiment", name, "--format", "json", "--anonymous")
        assert [rung["series"] for rung in document["rungs"]] == [series.id]
    assert inside.json("export", "of alice", "--format", "json", "--anonymous")["id"] == both[0].id


def test_an_anonymous_export_writes_no_copy_of_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inside = Inside(book(tmp_path / "a.db", one(1, target=TARGET)), None)
    written: list[str] = []
    forget = anonymous.forget_users

    def forget_and_look(db: NotebookDatabase) -> dict[str, str]:
        written.extend(name for *_, name in db.execute("PRAGMA database_list") if name)
        return forget(db)

    monkeypatch.setattr(anonymous, "forget_users", forget_and_look)
    assert inside("export", "last", "--anonymous").returncode == 0
    assert written == []
