"""Folders in which somebody put links that lead back to them, and others that never end, are left and told."""

from contextlib import closing

import pytest

from app.base.errors import MeasurementError
from app.base.own_names import DEEPEST
from app.clients.base import Secrets, call_here
from app.clients.file_tree import remove_all
from app.clients.registry import make_files
from app.clients.smb.client import SMBClient
from app.isolation import replayer as replayer_module
from app.isolation.replayer import Replayer
from storage.plan import Settings
from storage.records import Target

FOLDER = ".sharebench-isolate-0123abcd"


@pytest.fixture
def client_folder(smbd):
    folder = smbd.folder / FOLDER / "clients" / "client1"
    folder.mkdir(parents=True)
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o777)
    yield folder
    for path in sorted((smbd.folder / FOLDER).rglob("*"), reverse=True):
        path.unlink() if path.is_symlink() or path.is_file() else path.rmdir()
    (smbd.folder / FOLDER).rmdir()


@pytest.fixture
def replayer(smbd):
    with closing(SMBClient(smbd.target(), smbd.secrets(), Settings())) as client:
        yield Replayer(client.connected_share(), FOLDER, 1)


def test_a_link_that_leads_back_ends_the_removal(client_folder, replayer):
    for name in ("one", "two", "three"):
        (client_folder / name).symlink_to(".")
    with pytest.raises(MeasurementError, match="what no client made"):
        replayer.clean_up()
    assert (client_folder / "one").is_symlink()


@pytest.mark.parametrize(("depth", "is_removed"), [(DEEPEST, True), (DEEPEST + 1, False)])
def test_folders_are_removed_down_to_a_depth(client_folder, replayer, depth, is_removed):
    folder = client_folder
    for _ in range(depth):
        folder = folder / "f"
        folder.mkdir()
        folder.chmod(0o777)
    if is_removed:
        replayer.clean_up()
        assert not client_folder.parents[1].exists()
        client_folder.mkdir(parents=True)
    else:
        with pytest.raises(MeasurementError):
            replayer.clean_up()


def test_a_removal_that_takes_too_long_ends(client_folder, replayer, monkeypatch):
    (client_folder / "folder").mkdir()
    monkeypatch.setattr(replayer_module, "MOST_REMOVAL_SECONDS", -1.0)
    with pytest.raises(MeasurementError):
        replayer.clean_up()


@pytest.mark.parametrize("any_name", [True, False])
def test_clean_ends_at_links_that_lead_back_too(smbd, tmp_path, any_name):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("d1", "d2"):
        (folder / name).symlink_to(".")
    target = Target(protocol="file", path=str(tmp_path))
    with closing(make_files(target, Secrets(), Settings(), call_here)) as files, pytest.raises(MeasurementError):
        remove_all(files, str(folder), any_name=any_name)
    assert (folder / "d1").is_symlink()
