"""What was asked for: the request for a diagnosis, its stages, and what it creates on the share."""

from dataclasses import dataclass

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.diagnosis import plan
from app.diagnosis.stage_times import StageTimes, pace_of_this_machine
from app.recording.spec import ServerRequest
from forms import wording
from forms.diagnosis.chosen_complaint import COMPLAINTS
from storage.errors import did_you_mean
from storage.looks import Diagnosis, Effort, StageName, stages_of
from storage.records import Target, format_target

_THOROUGH = plan.SIZES[Effort.THOROUGH]
THOROUGH_TEXT = (
    f"Also a folder of {max(_THOROUGH.entries):,} entries and a run of {wording.binary_size(_THOROUGH.long_bytes)}."
)
"""What a thorough diagnosis measures beside the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisRequest(ServerRequest):
    """A diagnosis as it was asked for, or as it is to be completed."""

    target: Target
    effort: Effort = Effort.USUAL
    only: tuple[StageName, ...] = ()
    """The stages to measure; empty for all."""
    complaint: StageName | None = None
    """What the users complain of, by the stage that measures it; None: nothing was named."""
    folder: str | None = None
    """An existing folder of the share to list, instead of new ones."""
    profile: bool = False
    """Whether smbd's profile is read while small files are moved."""
    link_bits_per_second: int | None = None
    """The speed of the link as it was told; None: what this machine's interface says."""
    from_host: str | None = None
    """``[USER@]HOST`` of the machine that measures, reached by ssh; None for this one."""

    @property
    def stages(self) -> tuple[StageName, ...]:
        return stages_of(self.only)


def parse_stages(text: str) -> tuple[StageName, ...]:
    """Comma-separated names in measured order; none for an empty text. Raises UsageError."""
    words = [_as_name(word) for word in text.split(",") if word.strip()]
    for word in words:
        if word not in tuple(StageName):
            suggestion = did_you_mean(word, tuple(StageName))
            raise UsageError(f"there is no stage {word!r}; {suggestion}there are {', '.join(StageName)}")
    return stages_of([StageName(word) for word in words]) if words else ()


def _as_name(typed: str) -> str:
    """The name of a stage, also where it was typed as people write it: ``Small files``."""
    return "-".join(typed.casefold().split())


def parse_complaint(text: str) -> StageName | None:
    """The stage that answers a complaint; None for an empty text. Raises UsageError."""
    word = _as_name(text)
    if not word:
        return None

    names = {name.value: name for name in COMPLAINTS}
    if word not in names:
        suggestion = did_you_mean(word, tuple(names))
        raise UsageError(f"there is no complaint {word!r}; {suggestion}there are {', '.join(names)}")
    return names[word]


def check_request(request: DiagnosisRequest) -> None:
    """Raises UsageError."""
    if not request.target.abilities.has_share or not request.target.share:
        raise UsageError("diagnose needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")
    if request.complaint is not None and request.complaint not in request.stages:
        raise UsageError(
            f"the complaint {request.complaint} is answered by a stage that --only leaves out: name it there, too"
        )
    if request.from_host is not None and request.profile:
        text = "smbd's profile is read by the machine that measures, to which the way into the server is not known"
        raise UsageError(text, options="leave out --profile or --from")
    if request.folder is not None and StageName.FOLDERS not in request.stages:
        raise UsageError("--folder is for the stage folders: name that stage with --only, or leave --folder out")


def amount_text(request: DiagnosisRequest, places: int = 1) -> str:
    """What the diagnosis creates, and how long it takes; empty where it creates nothing.

    ``places``: the number of machines that measure one after the other, each with files of its own.
    """
    sizes = plan.sizes_of(request.effort, request.complaint)
    files, size_bytes = sizes.amount(request.stages, own_folders=request.folder is None)
    if not files:
        return ""

    creates = "Creates" if places == 1 else f"Each of {places} machines creates"
    time = time_text(request.effort, request.stages, request.complaint)
    if places > 1:
        time = _time_text_of_places(request, places)
    return (
        f"{creates} at most {wording.count(files, 'file')} of {wording.binary_size(size_bytes)} together, never more"
        f" than {100 * plan.SHARE_OF_FREE:.0f} % of the free space, in a folder of its own in"
        f" {format_target(request.target)}, and removes them at the end. {time}"
    )


def _time_text_of_places(request: DiagnosisRequest, places: int) -> str:
    """How long all of them take together; how busy they are, nobody knows here."""
    seconds = places * StageTimes(request.effort, request.complaint).seconds(request.stages)
    most_seconds = places * plan.SIZES[request.effort].seconds(request.stages)
    return f"Takes about {wording.duration(seconds)} on a local network, {wording.duration(most_seconds)} at most."


def time_text(effort: Effort, stages: tuple[StageName, ...], complaint: StageName | None) -> str:
    """How long these stages take, in a sentence, and on a busy client as this one is now."""
    usual_seconds = StageTimes(effort, complaint).seconds(stages)
    seconds_here = StageTimes(effort, complaint, pace_of_this_machine()).seconds(stages)
    longest = wording.duration(plan.SIZES[effort].seconds(stages))
    if seconds_here > usual_seconds:
        return f"This client is busy: takes about {wording.duration(seconds_here)}, {longest} at most."
    return f"Takes about {wording.duration(usual_seconds)} on a local network, {longest} at most."


def request_of(diagnosis: Diagnosis, secrets: Secrets) -> DiagnosisRequest:
    """The request that completes an interrupted diagnosis."""
    link = diagnosis.link_bits_per_second
    return DiagnosisRequest(
        secrets=secrets,
        settings=diagnosis.settings,
        label=diagnosis.label,
        question=diagnosis.question,
        server_ssh=diagnosis.server_ssh,
        smb_conf=diagnosis.smb_conf,
        target=diagnosis.target,
        effort=diagnosis.effort,
        only=diagnosis.only,
        complaint=diagnosis.complaint,
        folder=diagnosis.folder,
        profile=diagnosis.profile,
        link_bits_per_second=int(link) if link else None,
        from_host=diagnosis.from_host,
    )
