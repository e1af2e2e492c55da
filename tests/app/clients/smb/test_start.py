"""What a login and a transfer load: each measurement starts a process and pays for it."""

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.servers.smbd import Smbd

ROOT = Path(__file__).resolve().parents[4]


def test_a_login_a_put_and_a_goodbye_load_nothing_of_shells_calls_and_tickets(smbd: Smbd):
    code = f"""
        import sys
        import threading
        from app.clients.base import Content, Meter, Secrets
        from app.clients.smb.client import SMBClient
        from storage.plan import Settings
        from storage.records import Target

        target = Target(
            protocol="smb", host={smbd.host!r}, port={smbd.port}, share={smbd.share!r}, user={smbd.user!r}
        )
        client = SMBClient(target, Secrets(password={smbd.password!r}), Settings())
        client.put("start.bin", Content(1000), Meter(threading.Event()))
        client.remove("start.bin")
        client.close()
        print("\\n".join(sys.modules))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    modules = set(done.stdout.split())
    assert "impacket.smb3" in modules
    assert modules.isdisjoint(
        {
            "rich",
            "http.client",
            "smbclientng.core.SMBSession",
            "impacket.ldap",
            "impacket.dcerpc.v5.rpcrt",
            "impacket.dcerpc.v5.transport",
            "impacket.krb5.kerberosv5",
            "app.clients.smb.kerberos",
        }
    )
