"""A process at the other end of a loopback connection, for measuring a client against next to nothing."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def far_process(answer: Callable[[socket.socket], None]) -> Iterator[socket.socket]:
    """Our end of a TCP connection over the loopback to a forked process that runs ``answer`` with the other end.

    For single-threaded processes only, since it forks.
    """
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
