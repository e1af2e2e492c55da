"""Entry point of the load's ``engine`` and ``worker`` processes; their sockets are gevent's."""

import logging
import os
import signal
import sys


def main(role: str) -> int:
    import resource

    from gevent import monkey

    monkey.patch_all()
    os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    # A user is an open file.
    _soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))

    # Imported once gevent's sockets are in place.
    from app.base.messages import message_of
    from app.base.this_process import die_with_parent, keep_memory_to_ourselves

    keep_memory_to_ourselves()
    logging.disable(logging.WARNING)
    if role == "engine":
        from app.load.engine_child import serve

        serve()  # and ends this process

    from app.load.worker import Worker
    from app.load.worker_processes import WorkerOrder

    die_with_parent()
    Worker(message_of(sys.stdin.readline(), [WorkerOrder])).work()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
