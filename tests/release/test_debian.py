"""What a Debian made from nothing takes over from this machine."""

import pytest

from tests.release.debian import mirror_in, pip_variables


@pytest.mark.parametrize(
    ("sources", "mirror"),
    [
        ("deb http://mirror.example/debian bookworm main\n", "http://mirror.example/debian"),
        (
            "# deb http://old.example/debian x main\ndeb [signed-by=/k] https://new.example/d x main\n",
            "https://new.example/d",
        ),
        (
            "Types: deb\n# URIs: http://old.example\nURIs: http://mirror.example/debian\nSuites: x\n",
            "http://mirror.example/debian",
        ),
        ("deb-src http://mirror.example/debian bookworm main\n", None),
        ("deb cdrom:[Debian]/ bookworm main\n", None),
        ("", None),
    ],
)
def test_the_mirror_is_that_of_apt(sources: str, mirror: str | None):
    assert mirror_in(sources) == mirror


def test_the_index_is_that_of_pip_and_folders_of_this_machine_are_left_out():
    config = (
        ":env:.cert='/etc/ca.crt'\n:env:.find-links='/opt/wheels'\nglobal.index-url='https://index.example/simple'\n"
        "global.trusted-host='index.example'\nglobal.default-timeout='180'\n"
    )
    assert pip_variables(config) == {
        "PIP_INDEX_URL": "https://index.example/simple",
        "PIP_TRUSTED_HOST": "index.example",
        "PIP_DEFAULT_TIMEOUT": "180",
    }
