"""What else can be measured beside a series: another server in turn, many users, the same over FTP."""

from collections.abc import Iterator

from app.base.targets import parse_target
from app.guide import context as guide_context
from app.guide import page as guide_page
from app.guide.pages import judged_yardsticks
from app.method import choices as method_choices
from storage import records


def side_by_side(
    context: guide_context.GuideContext, series: records.Series, answer: judged_yardsticks.JudgedYardstick | None
) -> Iterator[guide_page.Option]:
    proof = context.proof
    if proof and series.id not in {changed_series.id for changed_series in proof.other}:
        pair_of_proof = {"base": proof.base[0].id, "other": proof.other[0].id}
        yield guide_page.Option("Side by side, with and without the change", guide_page.Visit("compare", pair_of_proof))

    # A series that is several yardsticks stands once, where it comes last, by its first name.
    first_yardsticks: dict[str, guide_context.Yardstick] = {}
    for yardstick in reversed(context.yardsticks):
        first_yardsticks[yardstick.series.id] = yardstick
    offered_ids: set[str] = set()
    if answer is not None:
        # Its repeats stand on the side of the series itself.
        offered_ids = {answer.yardstick.series.id, *answer.comparison.other_ids}
    for series_id, yardstick in reversed(first_yardsticks.items()):
        if series_id not in offered_ids:
            yield beside_option(yardstick, series)


def beside_option(yardstick: guide_context.Yardstick, series: records.Series) -> guide_page.Option:
    """The page with the figures of the verdict, to which a baseline goes by its name, so with all its series."""
    pair = {"base": yardstick.reference or yardstick.series.id, "other": series.id}
    return guide_page.Option(f"Side by side with {yardstick.name}", guide_page.Visit("compare", pair))


def many_users(choices: method_choices.GuideChoices) -> Iterator[guide_page.Option]:
    target = choices.target
    if target is None or not target.abilities.moves_files or target.abilities.is_local:
        return
    ssh = choices.spec.monitor.server_ssh or ""
    load = guide_page.Visit("load", {"target": records.format_target(target), "ssh": ssh})
    yield guide_page.Option("How many users does it carry?", load, "many at once, in a folder of its own")


def measure_over_ftp(context: guide_context.GuideContext, series: records.Series) -> guide_page.Option:
    for target in context.practice:
        if target.abilities.is_yardstick and target.host == series.target.host:
            return guide_page.Option("Measure the same over FTP", guide_page.Connect(target), "the practice server")

    user = f"{series.target.user}@" if series.target.user else ""
    server = f"ftp://{user}{series.target.host}/"
    question = guide_page.ask_question("The same server over FTP", _connect_to, server, keep=True)
    return guide_page.Option("Measure the same over FTP…", question, "what disk and network give without Samba")


def _connect_to(text: str) -> guide_page.Connect:
    return guide_page.Connect(parse_target(text))
