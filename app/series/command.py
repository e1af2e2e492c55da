"""``sharebench run``: its options. What it does is in ``app/cli/series_run.py``, which --help does not load."""

from typing import Any

import click

from app.cli import declare, run_options, targets
from app.recording.spec import SeriesSpec


@declare.command("run")
@targets.target_argument(required=False)
@run_options.series_options()
@declare.option(
    "--again",
    "SERIES",
    "Measure SERIES again; without a TARGET, with the same settings, and beside what it was compared with.",
)
@declare.option(
    "--versus",
    "OTHER",
    "Compare with OTHER, interleaved: client options ('--block 1M'), a TARGET, or both; may be repeated.",
    multiple=True,
)
@run_options.from_option("Measure on that machine, reached by ssh; may be repeated.")
@declare.whole_time_option
@click.option("--reject-unusual", is_flag=True, help="Reject unusual runs; the intervals become too narrow.")
@declare.option(
    "--resume", "SERIES", "Resume an interrupted series, or the --versus it is of.", name="resume_reference"
)
@click.option(
    "--confirm-target", is_flag=True, help="With --resume or --again: log in at the target of an imported series."
)
@declare.textfile_option
@declare.measuring_options("Print the series as JSON.")
def run_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, spec: SeriesSpec, **choices: Any
) -> int:
    """Measure one series and print its form.

    TARGET is smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://…, ftps://…, file:///PATH or iperf3://HOST[:PORT].
    With --put, PATH is a folder. Each run is stored as soon as it ends.

    A put is timed until the server, or the kernel for file://, has answered its last write: the data may not be on the
    disk yet. With --flush it is timed until the file was flushed to the disk.

    With --random, a run is --seconds of requests at random places of one file: reads, with --put writes, with --mix
    both. Those that write go to a file that is made in the folder PATH and removed at the end.

    With --versus OTHER, runs of TARGET and of OTHER alternate in random order, each with its own login and a new
    connection. Both files must have the same size (--make-file makes them). OTHER may have --credentials, --server-ssh
    and --smb-conf of its own; see `sharebench help versus`.

    With --from the runs are measured on another machine, where sharebench of this version is installed, or is carried
    to where Python and architecture are the same. Passwords go there on stdin; --prepare and --conclude run there.
    `sharebench clean --from HOST` removes what was carried. Several --from are measured interleaved and shown in one
    table: rate, distance, share of the link, and which leg is slow.

    With --versus the exit code is that of `compare`: 0: not slower; 1: slower; 3: inconclusive.
    """
    from app.cli.series_run import measure_and_show

    return measure_and_show(context, target, resume_reference, spec, choices)
