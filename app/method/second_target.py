"""A round that compares two targets: its second target, and whether both can be compared.

Both sides get a file that is there, of the same size on both, or one that is made on both.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.method.choices import GuideChoices, MethodStep, OtherSide, choices_of, in_new_round
from app.series.requests import with_label
from app.series.versus import target_names
from forms import wording
from storage.records import Series, Target, format_target


def with_second_target(choices: GuideChoices, picked: GuideChoices) -> GuideChoices:
    """The choices with what was ``picked`` elsewhere, as a round of its own, for their second target.

    Raises UsageError where it is the target itself.
    """
    assert picked.target is not None
    beside = OtherSide(
        target=picked.target,
        file=picked.file,
        file_bytes=picked.file_bytes,
        kerberos=picked.kerberos,
        server_ssh=picked.spec.monitor.server_ssh,
        smb_conf=picked.spec.monitor.smb_conf,
    )
    if choices.target == beside.target and choices.file == beside.file:
        raise UsageError("that is the target itself: name another server, share, path or file")
    return replace(in_new_round(choices), beside=beside)


def without_second_target(choices: GuideChoices) -> GuideChoices:
    """A round that measures the target alone."""
    return replace(in_new_round(choices), beside=None)


def side_names(choices: GuideChoices) -> tuple[str, str]:
    """What people call the two targets: the least that tells them apart. There is a second one."""
    assert choices.target is not None
    assert choices.beside is not None
    own, other = target_names([_measured_place(choices.target, choices.file), _place_beside(choices.beside)])
    return wording.plain(own), wording.plain(other)


def _measured_place(folder: Target, file: str | None) -> Target:
    return folder if file is None else replace(folder, path=file)


def _place_beside(beside: OtherSide) -> Target:
    return _measured_place(beside.target, beside.file)


def place_text(beside: OtherSide) -> str:
    """The second target for people, with its file."""
    return wording.plain(format_target(_place_beside(beside)))


def why_not_comparable(choices: GuideChoices) -> str:
    """Why the files of both targets cannot be compared, and what to do; empty where they can."""
    beside = choices.beside
    if beside is None or choices.makes_file or choices.file is None:
        return ""

    own_name, other_name = side_names(choices)
    own_size = f"{choices.file_bytes or 0:,} bytes"
    if beside.file is None:
        return f"{own_name} has a file of {own_size}, and none is chosen on {other_name}: choose one of the same size"
    if beside.file_bytes == choices.file_bytes:
        return ""
    other_size = f"{beside.file_bytes or 0:,} bytes"
    return (
        f"the file on {own_name} has {own_size}, the one on {other_name} {other_size}: choose files of the same size,"
        " or have one made on both (step 2)"
    )


def choices_to_complete(of_comparison: Sequence[Series]) -> GuideChoices:
    """The round that completes two series whose runs were interleaved, the base first.

    Raises UsageError for more than two.
    """
    if len(of_comparison) != 2:
        series_id = of_comparison[0].id
        raise UsageError(
            f"{len(of_comparison)} series were measured interleaved: complete them on the command line",
            options=f"run --resume {series_id}",
        )
    base, other = of_comparison
    own_round = choices_of(base)
    other_round = choices_of(other)
    assert other_round.target is not None
    beside = OtherSide(
        target=other_round.target,
        file=other_round.file,
        file_bytes=other_round.file_bytes,
        server_ssh=other_round.spec.monitor.server_ssh,
        smb_conf=other_round.spec.monitor.smb_conf,
        series_id=other.id,
    )
    return replace(own_round, beside=beside, series_id=base.id, step=MethodStep.RUN)


def choices_to_compare(series: Series) -> GuideChoices:
    """A round that measures what a stored series measured, to be compared with a second target."""
    choices = in_new_round(replace(choices_of(series), step=MethodStep.RUN))
    # The sides are labelled by what tells them apart.
    return replace(choices, spec=with_label(choices.spec, ""))
