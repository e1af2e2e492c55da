"""Two versions of Samba on one machine: each is asked by the programs that belong to it."""

from __future__ import annotations

import shlex
import shutil

import pytest

from app.server.probe import server_facts
from tests.servers.smbd import Smbd


class SmbdOfAnotherFolder(Smbd):
    """The installed smbd from a folder of its own, as a second version has; its testparm says something else."""

    def program(self, name: str) -> str:
        if name != "smbd":
            return super().program(name)
        place = self.root / "other" / "sbin" / "smbd"
        if not place.exists():
            place.parent.mkdir(parents=True)
            shutil.copy(super().program("smbd"), place)
            testparm = self.root / "other" / "bin" / "testparm"
            testparm.parent.mkdir()
            real_testparm = shlex.quote(super().program("testparm"))
            testparm.write_text(f'#!/bin/sh\n{real_testparm} "$@" | sed "s/max xmit = .*/max xmit = 17777/"\n')
            testparm.chmod(0o755)
        return str(place)


@pytest.mark.parametrize("is_named", [True, False])
def test_each_is_asked_by_its_own_programs(make_smbd, is_named):
    usual = make_smbd()
    other = SmbdOfAnotherFolder()
    try:
        other.start()
        facts_of_both = [
            server_facts(server.target(), smb_conf=str(server.conf) if is_named else None).facts
            for server in (usual, other)
        ]
    finally:
        other.stop()
    assert [facts.get("smb.conf/global/max xmit") == "17777" for facts in facts_of_both] == [False, True]
    assert [facts["smb.conf.path"] for facts in facts_of_both] == [str(usual.conf), str(other.conf)]


def test_programs_that_every_user_may_replace_are_not_run(make_smbd):
    other = SmbdOfAnotherFolder()
    try:
        other.start()
        (other.root / "other" / "sbin").chmod(0o777)
        facts = server_facts(other.target(), smb_conf=str(other.conf)).facts
    finally:
        other.stop()
    assert facts["smb.conf/global/max xmit"] != "17777"
