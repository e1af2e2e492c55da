"""The rules of small files: what takes the time of one, of those that `forms.diagnosis.rules` explains."""

from dataclasses import dataclass
from operator import attrgetter

from forms import wording
from forms.diagnosis import path, summary
from forms.diagnosis.figures import VARIES_TIMES, step_key
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


_LEAST_LEFT_OVER = 0.05
"""Of a file's time: less is not missed by who adds its steps up."""


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
    possible_reasons: tuple[str, ...]
    """Why it can be slow, the likeliest first, each with what shows it."""
    entry: str
    """The entry of the catalogue to read first."""


_REASON_SYNC_ALWAYS = "`sync always = yes` in smb.conf (`testparm -s` shows it)"

SAVING_STEPS = (
    SavingStep(
        key="data",
        phrase="to answer its write",
        cause="the server's write step",
        least_seconds=0.00025,
        possible_reasons=(
            _REASON_SYNC_ALWAYS,
            (
                "a file system below the share that writes to the disk at once: a mount with `sync`, NFS, ZFS with"
                " `sync=always` (`findmnt` and `zfs get sync` show it)"
            ),
            "a full or failing disk (`iostat -x` shows it: `w_await` above 5 ms)",
        ),
        entry="sync always",
    ),
    SavingStep(
        key="open",
        phrase="to create it",
        cause="the server's step that creates a file",
        least_seconds=0.002,
        possible_reasons=(
            (
                "a module of `vfs objects` that works on each new file, for ACLs, streams, an audit or a virus scanner"
                " (`testparm -s` shows it)"
            ),
            "`store dos attributes` or `strict allocate` (`testparm -s` shows them)",
            "a file system whose journal is on a slow disk (`iostat -x` shows it: `w_await` above 5 ms)",
        ),
        entry="store dos attributes",
    ),
    SavingStep(
        key="close",
        phrase="to close it",
        cause="the server's step that closes a file",
        least_seconds=0.0005,
        possible_reasons=(
            (
                "a module of `vfs objects` that works on each closed file, such as a virus scanner or an audit"
                " (`testparm -s` shows it)"
            ),
            "a quota (`repquota -a` shows it)",
        ),
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
    longer_by = {step: _seconds_longer(stage, step) for step in SAVING_STEPS}
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
    other_steps = _other_steps_text(stage, slowest, put_seconds)
    is_set = slowest.key == "data" and is_sync_always_set(diagnosis)
    return Finding(
        key="slow-saving",
        title=f"{_rates_text(stage, diagnosis)}: {step_text} {slowest.phrase}{other_steps}."
        " It is not the network and not signing, since reading goes through both",
        evidence=f"Of the {file_text} that saving a file takes, {slowest.cause} takes {wording.milliseconds(step_put)};"
        f" the same step of reading takes {wording.milliseconds(step_get)}, over the same path, and signed or encrypted"
        f" as saving is.{_way_text(stage, diagnosis)}",
        what_to_do=_reasons_text(slowest, diagnosis) + _several_at_once_text(stage, "put"),
        cost=extra_seconds / nearly_each,
        sure=_certainty_of_step(stage, slowest),
        setting=f"{_SYNC_ALWAYS}=no" if is_set else "",
        entry=slowest.entry,
        next_act=NextAct.CATALOGUE if _are_settings_read(diagnosis) else NextAct.ASK,
        is_answer=True,
        cause=slowest.cause,
        figures=("put_file", step_key("put", slowest.key), *(f"{pattern.key}_put" for pattern in summary.patterns())),
    )


def _other_steps_text(stage: looks.Stage, slowest: SavingStep, put_seconds: float) -> str:
    """Where the rest of a file's time goes, in a clause: `` (and 1.9 ms to create it and 0.8 ms to close it)``.

    Medians of steps do not add up to the median of files where these vary: what is left over then is named.
    """
    times_by_step = {step: stage.of(f"put_{step.key}_seconds") for step in SAVING_STEPS if step != slowest}
    others = []
    parts = []
    for step, times in times_by_step.items():
        if times:
            median_seconds, _ = summary.median_with_interval(times)
            others.append(median_seconds)
            parts.append(f"{wording.milliseconds(median_seconds)} {step.phrase}")
    if not parts:
        return ""

    slowest_seconds, _ = summary.median_with_interval(stage.of(f"put_{slowest.key}_seconds"))
    left_over = _left_over_text(put_seconds - slowest_seconds - sum(others), put_seconds)
    return f" (and {wording.listed(parts)}{left_over})"


def _left_over_text(left_seconds: float, put_seconds: float) -> str:
    """What the medians of the steps leave of that of files, in a clause; empty where that is hardly anything."""
    if left_seconds >= _LEAST_LEFT_OVER * put_seconds:
        return f"; each is a median, which leaves {wording.milliseconds(left_seconds)}"
    if left_seconds <= -_LEAST_LEFT_OVER * put_seconds:
        return "; each is a median, so that they add up to more"
    return ""


def _way_text(stage: looks.Stage, diagnosis: looks.Diagnosis) -> str:
    """How much of a file's time its requests are on the way, in a sentence; empty where that was not measured."""
    round_trips = int(stage.number("round_trips") or 0)
    round_trip = path.round_trip(stage, diagnosis)
    if round_trip is None or not round_trips:
        return ""
    seconds = round_trips * round_trip
    return f" The network takes {wording.milliseconds(seconds)} of it, for {round_trips} round trips."


def _certainty_of_step(stage: looks.Stage, step: SavingStep) -> str:
    put_seconds = summary.time_of_nearly_each(stage.of(f"put_{step.key}_seconds"))
    get_seconds, _ = summary.median_with_interval(stage.of(f"get_{step.key}_seconds"))
    return (
        f"certain: nine in ten files or more wait at least {wording.milliseconds(put_seconds)} for this step when they"
        f" are saved; when they are read, half of them wait {wording.milliseconds(get_seconds)} or less. A busy client"
        " would delay both"
    )


def _reasons_text(step: SavingStep, diagnosis: looks.Diagnosis) -> str:
    """Why the step can be slow: what the server's settings show, else what is possible, and what would show it."""
    is_set = is_sync_always_set(diagnosis)
    if step.key == "data" and is_set:
        return (
            "Likely reason: this share has `sync always = yes`, with which each write waits for the disk. A try without"
            " it shows how much of the time that is."
        )

    reasons = list(step.possible_reasons)
    ruled_out = ""
    if _REASON_SYNC_ALWAYS in reasons and is_set is False:
        reasons.remove(_REASON_SYNC_ALWAYS)
        ruled_out = " It is not `sync always`: the settings were read, and it is off."
    numbered = "; ".join(f"({number}) {reason}" for number, reason in enumerate(reasons, start=1))
    return f"Possible reasons, the likeliest first: {numbered}.{ruled_out}"


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
    if fine_get is not None and _is_fine_all_the_time(get_seconds, fine_get, stage, "get"):
        reading = f"Reading small files is fine ({_rate_text(get_seconds)})"
    elif fine_get is not None and get_seconds <= fine_get:
        reading = f"Reading small files is fine on the whole ({_rate_text(get_seconds)})"
    elif fine_get is not None:
        reading = f"Small files are read at {_rate_text(get_seconds)}, fine from {_rate_text(fine_get)}"

    is_put_fine = fine_put is not None and put_seconds <= fine_put
    slow_word = "slower than it need be" if is_put_fine else "slow"
    usual_text = "" if usual_put is None else f", usual on this path {_rate_text(usual_put)}"
    program_text = _program_text(stage, diagnosis)
    return f"{reading}; saving them is {slow_word} ({_rate_text(put_seconds)}{usual_text}{program_text})"


def _program_text(stage: looks.Stage, diagnosis: looks.Diagnosis) -> str:
    """How fast the first program that people copy with saves, which asks for more: ``; with Explorer 226/s of …``."""
    pattern = summary.patterns()[0]
    rate = summary.copied_per_second(stage, pattern, "put")
    usual_seconds = path.usual_copy_seconds(pattern.put, stage, diagnosis)
    if rate is None or usual_seconds is None:
        return ""
    return f"; as {pattern.name} copies, {rate:,.0f}/s, usual {_rate_text(usual_seconds)}"


def _is_fine_all_the_time(seconds: float, fine_seconds: float, stage: looks.Stage, command: str) -> bool:
    """Whether small files are as fast as they should be, also in the slowest of rounds that vary; as the table says."""
    ends = summary.ends_of(summary.median_file_seconds_by_round(stage, command))
    is_varying = ends is not None and ends[1] >= VARIES_TIMES * ends[0]
    slowest = ends[1] if ends is not None and is_varying else seconds
    return max(seconds, slowest) <= fine_seconds


def _several_at_once_text(stage: looks.Stage, command: str) -> str:
    """What users can do meanwhile; empty where several copies at once are hardly faster than one."""
    several = _several_at_once(stage, command)
    if several.factor < RISING:
        return ""
    return f" Meanwhile, without a change of the server, copy several files at once: {several.text}."


@dataclass(frozen=True, slots=True)
class _SeveralAtOnce:
    """How much faster several files at once are than one after the other."""

    factor: float
    text: str
    """What was compared, with the figures that stand in the tables."""


def _several_at_once(stage: looks.Stage, command: str) -> _SeveralAtOnce:
    """By all that was measured of it: the lowest of the factors; 1 where they contradict.

    The files of several streams say it, and the programs that copy several at once beside those that copy one.
    """
    doing = {"put": "saved", "get": "read"}[command]
    streams = int(stage.number("streams") or 1)
    factor = summary.side_by_side_factor(stage, command) or 1.0
    several = _SeveralAtOnce(factor, f"{streams} {doing} at once were {factor:.1f} times as fast as one by one")

    programs = summary.programs_beside(stage, command)
    if programs is None or programs.factor >= factor:
        return several
    text = (
        f"as `{programs.several.name}` does, {programs.several_per_second:,.0f}/s were {doing}, and as"
        f" {programs.single.name} does, one after the other, {programs.single_per_second:,.0f}/s"
    )
    # No way is advised that saves fewer in a second than one stream does by the answer above it.
    one_by_one_seconds, _ = summary.median_with_interval(summary.file_seconds(stage, command))
    beside_one_stream = programs.several_per_second * one_by_one_seconds
    return _SeveralAtOnce(max(1.0, min(programs.factor, beside_one_stream)), text)


def _rate_text(seconds: float) -> str:
    return f"{1 / seconds:,.0f}/s" if seconds > 0 else "no time at all"


def _are_settings_read(diagnosis: looks.Diagnosis) -> bool:
    return diagnosis.audit is not None and diagnosis.audit.scope is not looks.AuditScope.SESSION


def is_sync_always_set(diagnosis: looks.Diagnosis) -> bool | None:
    """Whether the audit of the server found it in effect for this share; None where nobody knows."""
    audit = diagnosis.audit
    if audit is None or not _are_settings_read(diagnosis):
        return None

    sections = {"", "global", (diagnosis.target.share or "").casefold()}
    for finding in audit.findings:
        if finding.parameter == _SYNC_ALWAYS and finding.section.casefold() in sections:
            return True if finding.verdict is looks.Ruling.WORTH_TRYING else None
    return None if audit.unread else False


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

    several = _several_at_once(stage, slower.command)
    faster = f" Several at once: {several.text}." if (stage.number("streams") or 1) > 1 else ""
    in_server = wording.milliseconds(max(0.0, slower.seconds - round_trips * round_trip))
    # Where several copies at once are faster, the server has time to spare: then the files are to be copied so.
    what_to_do = "Look at the disk behind the share: `sharebench isolate TARGET`."
    next_act: NextAct | None = NextAct.ISOLATE
    if several.factor >= RISING:
        next_act = None
        what_to_do = "Copy several files at once, as `robocopy /MT:8` does, or pack them into one file first."
    return Finding(
        key="small-files",
        title=title,
        evidence=f"{wording.milliseconds(slower.seconds)} a file of {size} by {slower.command},"
        f" {in_server} of it in the server.{faster}",
        what_to_do=what_to_do,
        cost=1 - 1 / several.factor if several.factor > 1 else slower.share_on_the_way,
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
    return f"certain: nine in ten or more take at least {wording.milliseconds(seconds)}"


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
        what_to_do="Possible reasons, the likeliest first: (1) modules of `vfs objects` that log or scan (`testparm -s`"
        " shows them): remove one at a time, and measure each with `sharebench try`; (2) a slow disk under the file"
        " system's journal (`iostat -x` shows it: `w_await` above 5 ms).",
        cost=opening_seconds / slower.seconds,
        sure=nearly_each_text(nearly_each),
        entry="vfs objects: full_audit",
        next_act=NextAct.CATALOGUE,
        figures=_figures_of_small_files(stage, slower.command),
    )
