"""Where the include of our file goes in smb.conf."""

from types import SimpleNamespace

import pytest

from app.server.changes.samba_plans import with_include

OURS = "/etc/samba/sharebench.conf"
INCLUDE = f"include = {OURS}\n"


@pytest.mark.parametrize(
    ("conf", "is_there"),
    [
        (f"[global]\n{INCLUDE}", True),
        (f"{INCLUDE}", True),
        (f"[share]\npath = /srv\n[GLOBAL]\n  Include={OURS}\n# the end\n; indeed\n\n", True),
        (f"[global]\n[share]\npath = /srv\n{INCLUDE}", False),
        (f"[global]\n{INCLUDE}deadtime = 5\n", False),
        (f"[global]\n{INCLUDE}[share]\n", False),
        ("[global]\ninclude = /etc/samba/other.conf\n", False),
        ("[global]\nconfig file = /etc/samba/sharebench.conf\n", False),
        ("[global]\n#" + INCLUDE, False),
        ("", False),
    ],
)
def test_it_counts_only_as_the_last_line_of_the_global_section(conf: str, is_there: bool):
    content = conf.encode()
    files = {"/etc/samba/smb.conf": SimpleNamespace(content=content)}
    place = SimpleNamespace(conf="/etc/samba/smb.conf", drop_in=OURS, state=SimpleNamespace(files=files))
    written = with_include(place)  # type: ignore[arg-type]
    assert written == (content if is_there else content + f"[global]\n    {INCLUDE}".encode())
