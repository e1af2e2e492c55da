"""``sharebench load-worker``: the far end of ``load --workers-on``, started through ssh and by nobody else."""

import click


@click.command("load-worker", hidden=True)
def load_worker_command() -> int:
    """Makes load for the machine that started it through ssh; ends when that hangs up."""
    from app.load.remote_workers import serve_workers  # noqa: PLC0415  nothing of it for --help

    return serve_workers()
