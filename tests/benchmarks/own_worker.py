"""Our own clients as a contender: logged in once, a piece of work for each line on stdin, answered by its seconds.

``python -m tests.benchmarks.own_worker URL BYTES``; the password is in ``PASSWD``. What a line asks for leaves behind
is removed by the line ``clean``, which is not part of the work.
"""

import os
import sys
import threading
import time
from collections.abc import Callable

from app.base.own_names import new_scratch_path
from app.base.targets import parse_target
from app.clients import base
from app.clients.registry import make_client, make_files
from app.clients.tree_client import TreeClient
from storage.plan import Settings
from storage.records import Target

LOGINS = 20
"""Of one line: a single one takes too little time to be counted."""
TREE_FILES = 500
TREE_FILE_BYTES = 16 * 1024
_SINGLE_REQUESTS = Settings(single_requests=True)
"""Small files are opened, moved and closed by requests of their own, as other clients do it."""


class OwnWork:
    """The work by the names of the lines. Each returns the seconds of its timed part."""

    def __init__(self, target: Target, secrets: base.Secrets, size_bytes: int) -> None:
        self._target = target
        self._secrets = secrets
        self._client = make_client(target, "", secrets, Settings(), size_bytes)
        self._content = base.Content(size_bytes)
        self._tree: TreeClient | None = None
        self._kept_tree = ""
        self._leftover = ""

    def get(self) -> float:
        return self._client.get(self._target.path, _meter()).seconds

    def put(self) -> float:
        self._leftover = new_scratch_path(self._target)
        return self._client.put(self._leftover, self._content, _meter()).seconds

    def list(self) -> float:
        began_at = time.perf_counter()
        self._client.list("")
        return time.perf_counter() - began_at

    def login(self) -> float:
        began_at = time.perf_counter()
        for _ in range(LOGINS):
            files = make_files(self._target, self._secrets, Settings())
            files.connect()
            files.close()
        return time.perf_counter() - began_at

    def make_tree(self) -> float:
        """Before the first tree is moved: log in, and put the one that ``get_tree`` gets."""
        client = make_client(self._target, "", self._secrets, _SINGLE_REQUESTS, TREE_FILE_BYTES)
        self._tree = TreeClient(client, make_files(self._target, self._secrets, _SINGLE_REQUESTS), TREE_FILES)
        self._tree.connect()
        self._kept_tree = new_scratch_path(self._target, tree=True)
        return self._put_tree(self._kept_tree)

    def get_tree(self) -> float:
        assert self._tree is not None
        return self._tree.get(self._kept_tree, _meter()).seconds

    def put_tree(self) -> float:
        self._leftover = new_scratch_path(self._target, tree=True)
        return self._put_tree(self._leftover)

    def _put_tree(self, path: str) -> float:
        assert self._tree is not None
        return self._tree.put(path, base.Content(TREE_FILES * TREE_FILE_BYTES), _meter()).seconds

    def clean(self) -> float:
        if self._leftover and self._tree is not None:
            self._tree.remove(self._leftover)
        elif self._leftover:
            self._client.remove(self._leftover)
        self._leftover = ""
        return 0.0

    def by_name(self) -> dict[str, Callable[[], float]]:
        steps = (self.get, self.put, self.list, self.login, self.make_tree, self.get_tree, self.put_tree, self.clean)
        return {step.__name__: step for step in steps}


def _meter() -> base.Meter:
    return base.Meter(threading.Event())


def main() -> None:
    target = parse_target(sys.argv[1])
    work = OwnWork(target, base.Secrets(password=os.environ["PASSWD"]), int(sys.argv[2]))
    steps = work.by_name()
    print("ready", flush=True)
    for line in sys.stdin:
        print(steps[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
