"""Why ssh did not lead to a machine, in plain words, and what to do about it."""

from typing import NamedTuple


class _Refusal(NamedTuple):
    sign: str
    """Part of what ssh says of it."""
    problem: str
    advice: str
    """``SSH`` in it stands for the host as it was given."""


_REFUSALS = (
    _Refusal(
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one that is known",
        "ask whether it was set up anew, before anything else: another machine may answer in its place",
    ),
    _Refusal(
        "Host key verification failed",
        "its host key is not known here",
        "run `ssh SSH true` once by hand, and confirm the key",
    ),
    _Refusal(
        "Permission denied",
        "it refused the login",
        "`ssh SSH true` must work without a question: set up a key, such as with `ssh-copy-id SSH`",
    ),
    _Refusal("Could not resolve hostname", "no host of that name is known", "check the name, or give its address"),
    _Refusal(
        "Connection refused",
        "nothing listens on its ssh port",
        "start sshd there, or name its port in ~/.ssh/config",
    ),
    _Refusal("timed out", "it does not answer", "check that it is on, and that its ssh port can be reached"),
    _Refusal("not responding", "it does not answer any more", "check that it is on, and the network to it"),
    _Refusal("No route to host", "no network leads to it", "check the address, and that it is on"),
    _Refusal("Network is unreachable", "no network leads to it", "check the address, and this machine's network"),
)
"""The first whose sign is in the text counts: of a host key that has changed ssh says both."""
_OTHERWISE = "`ssh SSH true` must work without a question; log in once by hand, or set up a key"


def explain_refusal(ssh: str, text: str, last_words: str) -> str:
    """``it refused the login (Permission denied (publickey)); …`` of ``text``, which ssh wrote before it gave up.

    ``last_words`` is the last line of the text, as it may be shown.
    """
    quoted_words = last_words.rstrip(".")
    for refusal in _REFUSALS:
        if refusal.sign in text:
            return f"{refusal.problem} ({quoted_words}); {refusal.advice.replace('SSH', ssh)}"
    return f"{quoted_words}; {_OTHERWISE.replace('SSH', ssh)}"
