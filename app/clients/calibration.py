"""The other end of the connections by which a client's ceiling is measured: a forked process on the loopback."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def far_process(answer: Callable[[socket.socket], None]) -> Iterator[socket.socket]:
    """A loopback connection to a forked process that runs ``answer``; for single-threaded processes only."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()

    child = os.fork()
    if not child:
        code = 1
        try:
            near.close()
            answer(far)
            code = 0
        finally:
            os._exit(code)

    far.close()
    try:
        with near:
            yield near
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
