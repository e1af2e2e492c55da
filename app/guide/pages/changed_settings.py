"""Settings of the client that are not as usual: they stand on the page of the run, and are reset there."""

from collections.abc import Iterator

from app.clients.registry import check_client_name
from app.guide import page
from app.method import one_change
from app.method.choices import GuideChoices, with_usual_settings
from forms import wording
from forms.tuning.imitated_clients import imitated_client
from storage import plan


def changed_facts(choices: GuideChoices) -> Iterator[str]:
    """``In flight: 8 (changed by you).`` of each that no change of this round makes."""
    for name, value in _changed_settings(choices):
        yield f"{name}: {value} (changed by you)."


def reset_option(choices: GuideChoices) -> Iterator[page.Option]:
    """To measure as usual, in a round of its own; not while a change or its base is measured, which keep to them."""
    lineage = choices.spec.lineage
    is_held_to_base = bool(lineage.change_name or choices.proven_id or choices.planned_repeats)
    changed = [name for name, _ in _changed_settings(choices)]
    if not changed or is_held_to_base:
        return
    names = wording.listed([name[0].lower() + name[1:] for name in changed])
    yield page.Option("Reset to the usual settings", page.Go(with_usual_settings(choices)), names, is_value=True)


def _changed_settings(choices: GuideChoices) -> Iterator[tuple[str, str]]:
    """The name and the value of each setting that is not as usual, but of that which the round's change sets."""
    changed_option = one_change.option_of(choices.spec.lineage.change_name or "")
    for option, name, value in _unusual_settings(choices):
        if option != changed_option:
            yield name, value


def _unusual_settings(choices: GuideChoices) -> Iterator[tuple[str, str, str]]:
    """The option, its name for people, and its value of each setting that is not as usual."""
    spec = choices.spec
    settings = spec.settings
    if choices.target is not None and spec.client not in ("", check_client_name(choices.target.protocol, "")):
        yield "client", "Client", wording.plain(spec.client)
    if settings.in_flight is not None and not spec.counts.random:
        yield "in_flight", "In flight", str(settings.in_flight)
    if settings.block_bytes is not None and not spec.counts.random:
        yield "block_bytes", "Request size", wording.typed_size(settings.block_bytes)
    if settings.like is not None:
        yield "like", "Imitated client", imitated_client(settings.like).name
    if settings.timeout_seconds != plan.DEFAULT_TIMEOUT_SECONDS:
        yield "timeout_seconds", "Timeout", wording.duration(settings.timeout_seconds)
    if spec.monitor.ceiling is not plan.CeilingPolicy.RECORD:
        yield "ceiling", "Client ceiling", spec.monitor.ceiling.value

    for option, name, is_on in (
        ("sign", "Signing", settings.sign),
        ("encrypt", "Encryption", settings.encrypt),
        ("flush", "Flush", settings.flush),
        ("drop_cache", "Drop the page cache", settings.drop_cache),
        ("single_requests", "Single requests", settings.single_requests),
        ("verify", "Verify the content", spec.counts.verify),
        ("profile", "Read smbd's profile", spec.counts.profile),
    ):
        if is_on:
            yield option, name, "on"
