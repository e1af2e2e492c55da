"""How long the runs of a round will probably take."""

from app.guide.context import GuideContext, file_size_context
from app.method.choices import GuideChoices
from forms.series import estimate
from storage.records import Command


def prospect_of(choices: GuideChoices, context: GuideContext) -> str:
    size_context = file_size_context(choices, context)
    rate = estimate.expected_rate(
        choices.target, measured=size_context.measured_bytes_per_second, link=size_context.link_bits_per_second
    )
    counts = choices.spec.counts

    return estimate.estimate_text(
        size_bytes=choices.run_bytes,
        rate=rate,
        makes_file_first=choices.makes_file and choices.spec.command is Command.GET,
        runs=counts.runs,
        warmups=counts.warmups,
        until_percent=counts.until_percent,
        max_runs=counts.max_runs,
        random_seconds=counts.random_seconds,
        series=1 + len(choices.others),
    )
