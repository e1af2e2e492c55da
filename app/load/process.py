"""Entry point of the load's ``engine`` and ``worker`` processes; their sockets are gevent's."""

import logging
import os
import signal
import sys


def main(role: str) -> int:
    import resource  # noqa: PLC0415  only POSIX systems have it

    from gevent import monkey  # noqa: PLC0415  before anything that opens a socket is imported

    monkey.patch_all()
    os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    # A user is an open file.
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))

    logging.disable(logging.WARNING)
    if role == "engine":
        from app.load.locust_engine import serve  # noqa: PLC0415  it opens sockets

        serve()  # and ends this process

    from app.base.child_process import die_with_parent, message_of  # noqa: PLC0415  after the patch, as above
    from app.load.worker import Worker  # noqa: PLC0415  as above
    from app.load.worker_processes import WorkerOrder  # noqa: PLC0415  as above

    die_with_parent()
    Worker(message_of(sys.stdin.readline(), [WorkerOrder])).work()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
