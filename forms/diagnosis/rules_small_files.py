"""The rules of small files: what takes the time of one, of those that `forms.diagnosis.rules` explains."""

from dataclasses import dataclass
from operator import attrgetter

from forms import wording
from forms.diagnosis import path, summary
from forms.findings.finding import Finding, NextAct
from forms.findings.path import FAR_SECONDS
from storage import looks

SLOW_FILE_SECONDS = 0.004
"""250 small files a second; a local server does 1,000 and more."""

_MOST_OF_A_FILE = 0.5
"""Of a file's time, from which on one part is what it is spent on."""

RISING = 1.5
"""Several copies of small files at once that are this many times as fast as one show that the server has time."""

SAVING_TIMES = 3.0
"""A step of saving that takes this many times as long as the same step of reading is what makes saving slow.

Of nearly each file, also where the client was busy: a write took 1.2 to 2.4 times a read with Samba's defaults, 4 to 14
times with ``sync always``. Of whole files the two overlap (1.9 to 3.8 and 2.7 to 5.9), as creating is always dearer.
"""

_LEAST_SHARE_OF_SAVING = 0.2
"""Of a file's time, what such a step must take longer than in reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingStep:
    """A step of saving a small file, which reading has as well."""

    key: str
    """Of the samples: ``put_KEY_seconds`` and ``get_KEY_seconds``."""
    phrase: str
    """What the server takes the time for."""
    cause: str
    """The same as a noun."""
    least_seconds: float
    """How much longer than in reading it must take: several times what a usual server needs more."""
    what_to_do: str
    entry: str
    """The entry of the catalogue to read first."""


_SAVING_STEPS = (
    SavingStep(
        key="data",
        phrase="to answer its write",
        cause="the server's write step",
        least_seconds=0.00025,
        what_to_do="Something has each write reach the disk before it is answered. In smb.conf that is `sync always ="
        " yes`; else it is the file system below the share (ZFS with `sync=always`, a mount with `sync`, NFS) or a full"
        " or failing disk.",
        entry="sync always",
    ),
    SavingStep(
        key="open",
        phrase="to create it",
        cause="the server's step that creates a file",
        least_seconds=0.002,
        what_to_do="Something works on each new file: a module of `vfs objects` (ACLs, streams, an audit, a virus"
        " scanner), `store dos attributes` or `strict allocate`, or a file system whose journal is on a slow disk.",
        entry="store dos attributes",
    ),
    SavingStep(
        key="close",
        phrase="to close it",
        cause="the server's step that closes a file",
        least_seconds=0.0005,
        what_to_do="Something works on each file when it is closed: usually a module of `vfs objects`, such as a virus"
        " scanner or an audit, or a quota.",
        entry="vfs objects: full_audit",
    ),
)
"""Least seconds: Samba 4.17 took up to 0.1 ms more for a write than for a read, 0.6 ms more to create a file than to
open one, and 0.1 ms more to close it.
"""

_SYNC_ALWAYS = "sync always"


def slow_saving(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """Small files that are saved far more slowly than they are read, in one step of the server.

    Both cross the same path with the same protection from the same client, so that neither is the reason.
    """
    put_times = summary.file_seconds(stage, "put")
    get_times = summary.file_seconds(stage, "get")
    if not put_times or not get_times:
        return None

    nearly_each = summary.time_of_nearly_each(put_times)
    longer_by = {step: _seconds_longer(stage, step) for step in _SAVING_STEPS}
    slowest = max(longer_by, key=longer_by.__getitem__)
    extra_seconds = longer_by[slowest]
    if extra_seconds < max(slowest.least_seconds, _LEAST_SHARE_OF_SAVING * nearly_each):
        return None
    is_far = _share_on_the_way(stage, nearly_each) >= _MOST_OF_A_FILE
    if is_far or _may_be_the_way_there(stage, diagnosis, slowest):
        return None

    step_put, _ = summary.median_with_interval(stage.of(f"put_{slowest.key}_seconds"))
    step_get, _ = summary.median_with_interval(stage.of(f"get_{slowest.key}_seconds"))
    put_seconds, _ = summary.median_with_interval(put_times)
    file_text = wording.milliseconds(put_seconds)
    step_text = f"of the {file_text} that a file takes, the server needs {wording.milliseconds(step_put)}"
    put_step_of_nearly_each = summary.time_of_nearly_each(stage.of(f"put_{slowest.key}_seconds"))
    setting = f"{_SYNC_ALWAYS}=no" if _is_sync_always_read(diagnosis) and slowest.key == "data" else ""
    return Finding(
        key="slow-saving",
        title=f"{_rates_text(stage, diagnosis)}: {step_text} {slowest.phrase}. Not the network, not signing: reading"
        " uses both",
        evidence=f"The same step of reading takes {wording.milliseconds(step_get)}, over the same path, and signed or"
        " encrypted as saving is.",
        what_to_do=slowest.what_to_do + _several_at_once_text(stage),
        cost=extra_seconds / nearly_each,
        sure=f"yes; a busy client delays reading as well, and nearly each file takes at least"
        f" {wording.milliseconds(extra_seconds)} longer in this step than in reading"
        f" ({wording.milliseconds(put_step_of_nearly_each)})",
        setting=setting,
        entry=slowest.entry,
        next_act=NextAct.CATALOGUE if _are_settings_read(diagnosis) else NextAct.ASK,
        is_answer=True,
        cause=slowest.cause,
        figures=("put_file", *(f"{pattern.key}_put" for pattern in summary.patterns())),
    )


def _seconds_longer(stage: looks.Stage, step: SavingStep) -> float:
    """By how much nearly each saving takes longer in this step than reading; 0 where it is no multiple of it."""
    put_times = stage.of(f"put_{step.key}_seconds")
    get_times = stage.of(f"get_{step.key}_seconds")
    if not put_times or not get_times:
        return 0.0

    put_seconds = summary.time_of_nearly_each(put_times)
    get_seconds = summary.time_of_nearly_each(get_times)
    return put_seconds - get_seconds if put_seconds >= SAVING_TIMES * get_seconds else 0.0


def _share_on_the_way(stage: looks.Stage, file_seconds: float) -> float:
    """The share of a file's time that the round trips take, 0 to 1."""
    round_trips = stage.number("round_trips") or 0
    round_trip = summary.time_of_nearly_each(stage.of("echo_seconds") or (0.0,))
    return round_trips * round_trip / file_seconds if file_seconds > 0 else 0.0


def _may_be_the_way_there(stage: looks.Stage, diagnosis: looks.Diagnosis, step: SavingStep) -> bool:
    """Whether the data of a write may take longer on the way than that of a read, as on many lines to the Internet."""
    if step.key != "data":
        return False

    long_run = diagnosis.stage(looks.StageName.LONG_RUN)
    moments = long_run.of("at_seconds") if long_run is not None else ()
    if long_run is None or not moments or moments[-1] <= 0:
        return (path.round_trip(stage, diagnosis) or 0.0) >= FAR_SECONDS

    rate = long_run.of("moved_bytes")[-1] / moments[-1]
    seconds_to_the_server = (stage.number("file_bytes") or 0.0) / rate if rate > 0 else 0.0
    seconds_of_a_read = summary.time_of_nearly_each(stage.of("get_data_seconds"))
    return _seconds_longer(stage, step) < 2 * (seconds_to_the_server - seconds_of_a_read)


def _rates_text(stage: looks.Stage, diagnosis: looks.Diagnosis) -> str:
    """What is fine and what is slow, each with its rate: ``Reading … is fine (1,100/s), saving is slow (365/s, …)``."""
    put_seconds, _ = summary.median_with_interval(summary.file_seconds(stage, "put"))
    get_seconds, _ = summary.median_with_interval(summary.file_seconds(stage, "get"))
    usual_put = path.usual_copy_seconds(path.REQUESTS_OF_A_FILE["put"], stage, diagnosis)
    fine_put = path.fine_file_seconds("put", stage, diagnosis)
    fine_get = path.fine_file_seconds("get", stage, diagnosis)

    reading = f"Small files are read at {_rate_text(get_seconds)}"
    if fine_get is not None and get_seconds <= fine_get:
        reading = f"Reading small files is fine ({_rate_text(get_seconds)})"

    is_put_fine = fine_put is not None and put_seconds <= fine_put
    slow_word = "slower than it need be" if is_put_fine else "slow"
    usual_text = "" if usual_put is None else f", usual on this path {_rate_text(usual_put)}"
    return f"{reading}; saving them is {slow_word} ({_rate_text(put_seconds)}{usual_text})"


def _several_at_once_text(stage: looks.Stage) -> str:
    """What users can do meanwhile; empty where several copies at once are hardly faster than one."""
    factor = _sure_factor(stage, "put")
    streams = int(stage.number("streams") or 1)
    if factor < RISING:
        return ""
    return (
        f" Meanwhile, without a change of the server: {streams} files saved at once were {factor:.1f} times as fast,"
        f" as `robocopy /MT:{streams}` does it."
    )


def _sure_factor(stage: looks.Stage, command: str) -> float:
    """How many times as fast several copies at once are, by all that was measured of it; 1 where that contradicts.

    The files of several streams say it, and the programs that copy several at once beside those that copy one.
    """
    factor = summary.side_by_side_factor(stage, command) or 1.0
    factor_of_programs = summary.programs_factor(stage, command)
    return factor if factor_of_programs is None else max(1.0, min(factor, factor_of_programs))


def _rate_text(seconds: float) -> str:
    return f"{1 / seconds:,.0f}/s" if seconds > 0 else "no time at all"


def _are_settings_read(diagnosis: looks.Diagnosis) -> bool:
    return diagnosis.audit is not None and diagnosis.audit.scope is not looks.AuditScope.SESSION


def _is_sync_always_read(diagnosis: looks.Diagnosis) -> bool:
    """Whether the audit of the server found it set."""
    if diagnosis.audit is None:
        return False
    return any(
        finding.parameter == _SYNC_ALWAYS and finding.verdict is looks.Ruling.WORTH_TRYING
        for finding in diagnosis.audit.findings
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallFileTimes:
    """What one small file takes in one direction."""

    command: str
    """``put`` or ``get``."""
    seconds: float
    """The median."""
    seconds_of_nearly_each: float
    """What nearly each file takes at least."""
    share_on_the_way: float
    """The share of the time that the round trips take, 0 to 1."""


def _slower_direction(stage: looks.Stage) -> SmallFileTimes | None:
    """The times of put or get, whichever takes longer; None where neither was measured."""
    directions = []
    for command in ("put", "get"):
        times = summary.file_seconds(stage, command)
        if not times:
            continue

        median_seconds, _ = summary.median_with_interval(times)
        nearly_each = summary.time_of_nearly_each(times)
        directions.append(
            SmallFileTimes(
                command=command,
                seconds=median_seconds,
                seconds_of_nearly_each=nearly_each,
                share_on_the_way=_share_on_the_way(stage, nearly_each),
            )
        )
    return max(directions, key=attrgetter("seconds"), default=None)


def many_small_files(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """Small files whose time goes to the way, or to moving the data; where opening them takes it, `slow_open` tells."""
    slower = _slower_direction(stage)
    if slower is None or slower.seconds_of_nearly_each < SLOW_FILE_SECONDS:
        return None
    if slow_saving(stage, diagnosis) is not None:
        return None

    is_far = slower.share_on_the_way >= _MOST_OF_A_FILE
    opening_seconds, _ = _opening_seconds(stage, slower.command)
    if not is_far and opening_seconds >= _MOST_OF_A_FILE * slower.seconds:
        return None  # which `slow_open` tells

    round_trips = int(stage.number("round_trips") or 0)
    round_trip = path.round_trip(stage, diagnosis) or 0.0
    size = wording.binary_size(int(stage.number("file_bytes") or 0))
    title = f"Each small file takes {wording.milliseconds(slower.seconds)}, most of it to move {size}"
    if is_far:
        trip = wording.milliseconds(round_trip)
        title = f"Each small file costs {round_trips} round trips of {trip}: distance, not the disk"

    factor = _sure_factor(stage, slower.command)
    streams = int(stage.number("streams") or 1)
    faster = f" {streams} copies at once are {factor:.1f} times as fast." if streams > 1 else ""
    in_server = wording.milliseconds(max(0.0, slower.seconds - round_trips * round_trip))
    # Where several copies at once are faster, the server has time to spare: then the files are to be copied so.
    what_to_do = "Look at the disk behind the share: `sharebench isolate TARGET`."
    next_act: NextAct | None = NextAct.ISOLATE
    if factor >= RISING:
        next_act = None
        what_to_do = f"Copy several files at once, as `robocopy /MT:{streams}` does, or pack them into one file first."
    return Finding(
        key="small-files",
        title=title,
        evidence=f"{wording.milliseconds(slower.seconds)} a file of {size} by {slower.command},"
        f" {in_server} of it in the server.{faster}",
        what_to_do=what_to_do,
        cost=1 - 1 / factor if factor > 1 else slower.share_on_the_way,
        sure=nearly_each_text(slower.seconds_of_nearly_each),
        next_act=next_act,
        figures=_figures_of_small_files(stage, slower.command),
    )


def _figures_of_small_files(stage: looks.Stage, slower_command: str) -> tuple[str, ...]:
    """The figures of the slower direction, and of the other where it is slow as well.

    With those of the programs that copy one file after the other; several at once wait side by side.
    """
    commands = [slower_command]
    for command in ("put", "get"):
        times = summary.file_seconds(stage, command)
        is_slow = bool(times) and summary.time_of_nearly_each(times) >= SLOW_FILE_SECONDS
        if command != slower_command and is_slow:
            commands.append(command)

    keys: list[str] = []
    for command in commands:
        keys.append(f"{command}_file")
        keys += [f"{pattern.key}_{command}" for pattern in summary.patterns() if pattern.streams == 1]
    return tuple(keys)


def nearly_each_text(seconds: float) -> str:
    return f"nearly each takes at least {wording.milliseconds(seconds)}"


def _opening_seconds(stage: looks.Stage, command: str) -> tuple[float, float]:
    """(median, for nearly every file) that the server takes to open and close a file, without the way."""
    times = summary.file_seconds(stage, command, ("open", "close"))
    # A round trip for the opening and one for the closing.
    on_the_way = 2 * summary.round_trip(stage)
    median_seconds, _ = summary.median_with_interval(times)
    nearly_each = summary.time_of_nearly_each(times)
    return max(0.0, median_seconds - on_the_way), max(0.0, nearly_each - on_the_way)


def slow_open(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """Small files whose time goes to the server's opening and closing of them."""
    slower = _slower_direction(stage)
    if slower is None or slow_saving(stage, diagnosis) is not None:
        return None

    opening_seconds, nearly_each = _opening_seconds(stage, slower.command)
    # Half of what makes a file slow, as it is half of its time that the opening has to take.
    if nearly_each < SLOW_FILE_SECONDS / 2 or opening_seconds < _MOST_OF_A_FILE * slower.seconds:
        return None

    opened, _ = summary.median_with_interval(stage.of(f"{slower.command}_open_seconds"))
    closed, _ = summary.median_with_interval(stage.of(f"{slower.command}_close_seconds"))
    return Finding(
        key="slow-open",
        title=f"Opening and closing a file takes the server {wording.milliseconds(opening_seconds)}",
        evidence=f"By {slower.command}: open {wording.milliseconds(opened)}, close {wording.milliseconds(closed)}, of"
        f" {wording.milliseconds(slower.seconds)} for the whole file.",
        what_to_do="Remove the modules of `vfs objects` one at a time, first those that log or scan, and measure each"
        " with `sharebench try`.",
        cost=opening_seconds / slower.seconds,
        sure=nearly_each_text(nearly_each),
        entry="vfs objects: full_audit",
        next_act=NextAct.CATALOGUE,
        figures=_figures_of_small_files(stage, slower.command),
    )
