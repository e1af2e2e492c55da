"""Answers of a server with pieces broken out of them."""

from __future__ import annotations

import random
import string

WORDS = ("", "-", "x", "-1", "99999999999999999999", "9.5", ":", "nan", "²", "\\")
LINES = ("=", "[", "[]", "[x", "include = /etc/samba/smb.conf", "a=", "x = \\", " : ", "\0")


def broken(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    for _ in range(chance.randint(1, 6)):
        if not lines:
            break
        index = chance.randrange(len(lines))
        words = lines[index].split(" ")
        words[chance.randrange(len(words))] = chance.choice(WORDS)
        noise = "".join(chance.choices(string.printable, k=10))
        cut = lines[index][: chance.randint(0, len(lines[index]))]
        lines[index : index + 1] = chance.choice(
            ([], [cut], [noise], [" ".join(words)], [lines[index], chance.choice(LINES)])
        )
    return "\n".join(lines[: chance.choice((len(lines), len(lines) // 2))])
