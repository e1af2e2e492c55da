"""Why ssh did not lead to a machine, in plain words."""

import pytest

from app.base.ssh_refusals import explain_refusal

_KEY_FAILED = "Host key verification failed."


@pytest.mark.parametrize(
    ("text", "problem", "advice"),
    [
        (_KEY_FAILED, "not known here", "confirm the key"),
        (f"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n{_KEY_FAILED}", "not the one that is known", "anew"),
        ("root@nas: Permission denied (publickey).", "refused the login", "`ssh-copy-id root@nas`"),
        ("ssh: Could not resolve hostname nas: Name or service not known", "no host of that name", "address"),
        ("ssh: connect to host nas port 22: Connection refused", "nothing listens", "start sshd"),
        ("ssh: connect to host nas port 22: Connection timed out", "does not answer", "ssh port can be reached"),
        ("Timeout, server nas not responding.", "does not answer any more", "network"),
        ("ssh: connect to host nas port 22: No route to host", "no network leads to it", "address"),
        ("kex_exchange_identification: read: Connection reset by peer", "Connection reset", "without a question"),
    ],
)
def test_each_refusal_says_what_it_is_what_ssh_said_and_what_to_do(text: str, problem: str, advice: str):
    last_words = text.splitlines()[-1]
    explanation = explain_refusal("root@nas", text, last_words)
    reason, _, remedy = explanation.partition("; ")
    assert problem in reason
    assert advice in remedy
    assert last_words.rstrip(".") in reason
    assert ".;" not in explanation
