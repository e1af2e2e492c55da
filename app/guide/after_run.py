"""The pages of the steps from the run on, but for the review; and the page of each step."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from app.audit.engine import read_configuration
from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import parse_target
from app.clients.base import OWN
from app.guide import choices as acts
from app.guide.before_run import (
    BETTER,
    better_rounds,
    comparing,
    file_page,
    prospect_of,
    quiet_page,
    review_page,
    target_page,
    warm_up_page,
)
from app.guide.choices import Ask, Go, GuideChoices, MethodStep, Option, Page, Store, Visit, ask, page
from app.guide.known import TITLES, GuideContext, Yardstick, decide, done, next_step
from app.series.requests import parse_change, with_label
from forms import wording
from forms.comparison.comparison import Comparison, can_interleave, needs_longer_runs
from forms.comparison.settling import SettlingStep
from forms.comparison.verdict import Sides, compare_sides
from forms.comparison.wording import comparison_headline, comparison_sentences, interleaving
from forms.findings.path import is_practice
from forms.findings.report import SIGNS
from forms.layout import Tone, Toned
from forms.series.put_end import put_end
from forms.series.report import QUESTIONS, before_a_change
from forms.series.summary import run_form
from forms.stats.decision import Doubt, Limits, Verdict
from forms.stats.settle import Way
from forms.stats.variation import LEAST_ALTERNATING
from forms.trial.report import change_answer, tried_lines
from forms.tuning.catalogue import EntryKind, about, acts_on, find, relevant
from forms.tuning.change_evidence import own_setting, unknown_name
from forms.tuning.smb_conf import spelling
from forms.wording import cell_percent, link_rate
from forms.worksheets.summary import FRAME_BYTES, PAYLOAD_BYTES
from storage.records import (
    Change,
    Command,
    Decision,
    Evidence,
    Series,
    SeriesStatus,
    format_target,
    with_zone,
)
from storage.shared import why_no_baseline_name


def run_page(choices: GuideChoices, known: GuideContext) -> Page:
    series = known.series
    found = (f"! An interrupted trial left {left}: R in the notebook restores it." for left in known.left)
    facts: list[str | Toned] = [Toned(text, Tone.CAUTION) for text in found]
    facts += [*_what(choices), f"What will happen: {prospect_of(choices, known)}"]
    steps = (MethodStep.QUIET, MethodStep.WARM_UP)
    if missing := [TITLES[step].lower() for step in steps if not done(choices, known, step)]:
        facts.append(f"Not looked at yet: {wording.listed(missing)}; the recommended choice is taken.")
    if choices.quiet is acts.QuietChoice.WAIT:
        facts.append("First it waits for a quiet time, at most 10 minutes. Press 3 to choose otherwise.")
    if choices.interleaved:
        facts.append(turn_text(choices, known))
    if choices.spec.lineage.change_name:
        facts += _of_the_change(choices, known, choices.spec.lineage.change_name)
    elif choices.again_name:
        again = _changed_to(Change(name=choices.again_name, value=choices.again_value))
        facts.append(f"This is the base. {again} is offered after it, to be compared.")
    if not choices.interleaved:
        facts += what_to_set(choices, known)
    options = [Option("Start", acts.Simple.START, "Enter; the form fills in as runs end", advised=True)]
    if series is not None and series.status is not SeriesStatus.COMPLETE:
        count = wording.count(len(series.measured()), "valid run")
        ended = "failed" if series.status is SeriesStatus.FAILED else f"was {series.status}"
        facts.append(f"The series {ended} after {count}{f': {wording.plain(series.error)}' if series.error else '.'}")
        options = [
            Option("Resume where it stopped", acts.Simple.RESUME, f"series {series.id}", advised=True),
            Option("Start a new series", acts.Simple.START, "the old one stays in the notebook"),
        ]
    elif series is not None:
        facts.append(f"Measured: series {series.id}, {wording.count(len(series.measured()), 'valid run')}.")
        options = [
            Option("Review it", Go(replace(choices, step=MethodStep.REVIEW)), "the next step", advised=True),
            Option("Measure the same again", Go(acts.same_again(choices)), "a new series"),
        ]
    if choices.target is not None and choices.target.abilities.has_share:
        options.append(
            Option("Read the server's settings…", ask_server(choices), _settings_from(choices), is_value=True)
        )
    label, question = (
        wording.plain(text) or "none" for text in (choices.spec.texts.label, choices.spec.texts.question)
    )
    options.append(Option("A label for the form…", _ask_label(choices), label, is_value=True))
    options.append(Option("The question to answer…", _ask_question(choices), question, is_value=True))
    return page(MethodStep.RUN, facts, options)


def _of_the_change(choices: GuideChoices, known: GuideContext, name: str) -> Iterator[str | Toned]:
    if not choices.interleaved:
        who = "make it on the server now, then start; the guide checks whether it took effect"
        change = Change(name=name, value=choices.spec.lineage.change_value)
        yield from (f"Base: {wording.name_of(base)}." for base in [known.base] if base)
        yield f"Change: {_changed_to(change)} ({'applied automatically' if name in acts.OWN_CHANGES else who})."
    is_sambas = choices.target is not None and choices.target.abilities.through_samba and own_setting(name) is None
    if is_sambas and (why := unknown_name(spelling(name), {})):
        yield Toned(f"! {wording.plain(why)} Ignore this if it is no setting of Samba's.", Tone.CAUTION)
    if acts_on(name) not in {None, choices.spec.command}:
        other = "put" if choices.spec.command is Command.GET else "get"
        yield Toned(f"! It acts on a {other} alone: measure one, before and after the change.", Tone.CAUTION)


def _what(choices: GuideChoices) -> Iterator[str]:
    if choices.target is None:
        return
    place = wording.plain(format_target(choices.target))
    size = wording.file_size(choices.run_bytes) if choices.run_bytes is not None else "?"
    if block_bytes := choices.spec.settings.block_bytes:
        size += f" in requests of {wording.typed_size(block_bytes)}"
    command = choices.spec.command
    if not choices.target.abilities.moves_files:
        yield f"To measure: {command} of {size} at {place}."
    elif choices.makes_file:
        yield f"To measure: {command} of {size} at {place}, with a file made for it and removed afterwards."
    else:
        yield f"To measure: {command} of {wording.plain(choices.file or '')} ({size}) at {place}."
    end = put_end(command, choices.target, flushed=choices.spec.settings.flush)
    if end:
        yield f"Each put is timed {end}."


def _settings_from(choices: GuideChoices) -> str:
    monitor = choices.spec.monitor
    by_ssh = f"by ssh from {wording.plain(monitor.server_ssh)}" if monitor.server_ssh else ""
    file = f"from {wording.plain(monitor.smb_conf)}" if monitor.smb_conf else ""
    return " ".join(filter(None, (by_ssh, file))) or "by itself, if local"


def ask_server(choices: GuideChoices) -> Ask:
    def taken(text: str) -> Go:
        words = text.split()
        paths = [word for word in words if word.startswith("/")]
        hosts = [word for word in words if not word.startswith("/")]
        for host in hosts:
            check_ssh_host(host, "[USER@]HOST")
        if len(paths) > 1 or len(hosts) > 1:
            raise UsageError(f"not understood: {text!r}; write [USER@]HOST, or /path/of/smb.conf, or one of each")
        ssh, smb_conf = hosts[0] if hosts else None, paths[0] if paths else None
        if smb_conf and not ssh:
            read_configuration(Path(smb_conf))
        monitor = replace(choices.spec.monitor, server_ssh=ssh, smb_conf=smb_conf)
        return Go(replace(choices, spec=replace(choices.spec, monitor=monitor), step=MethodStep.RUN))

    typed = " ".join(str(word) for word in (choices.spec.monitor.server_ssh, choices.spec.monitor.smb_conf) if word)
    return ask("The server's settings", taken, typed)


def _ask_label(choices: GuideChoices) -> Ask:
    def taken(text: str) -> Go:
        is_new = choices.has_new_label or (choices.series_id is not None and text != choices.spec.texts.label)
        spec = with_label(choices.spec, text)
        return Go(replace(choices, spec=spec, has_new_label=is_new, step=MethodStep.RUN))

    return ask("Label", taken, choices.spec.texts.label)


def _ask_question(choices: GuideChoices) -> Ask:
    def taken(text: str) -> Go:
        number = int(text) if text.isdecimal() else 0
        question = QUESTIONS[number - 1] if 1 <= number <= len(QUESTIONS) else text
        texts = replace(choices.spec.texts, question=question)
        return Go(replace(choices, spec=replace(choices.spec, texts=texts), step=MethodStep.RUN))

    usual = " ".join(f"{number}: {question}" for number, question in enumerate(QUESTIONS, 1))
    question = ask("Question", taken, choices.spec.texts.question)
    return replace(question, text=f"{question.text} {usual}")


def expected_page(choices: GuideChoices, known: GuideContext) -> Page:
    if known.series is None:
        return Page(title="Compare", why="There is no series to compare yet.")
    series, form = known.series, run_form(known.series)
    facts: list[str | Toned] = [*tried_lines(known.proof.tried if known.proof else None)]
    runs = wording.count(len(series.measured()), "valid run")
    facts.append(f"Average: {wording.rate(form.average_rate)} over {runs}.")
    share = form.average.percent_of_link if form.average else None
    if share is not None:
        of_link = f"{cell_percent(share)} % of {link_rate(series.link_bits_per_second)}"
        facts.append(f"Link: {of_link} (Ethernet that is full shows about {100 * PAYLOAD_BYTES / FRAME_BYTES:.0f} %).")
    else:
        facts.append("Link: its rate is not known, so there is no percentage.")
    compared = [
        (one, compare_sides(one.sides or Sides(base=(one.series,), other=(series,)), Limits()))
        for one in known.yardsticks
    ]
    judged: dict[tuple[frozenset[str], ...], tuple[list[str], Comparison]] = {}
    for stick, found in compared:
        named = (
            f" ({wording.name_of(stick.series, beside=series)})"
            if stick.series.id == choices.spec.lineage.base_id
            else ""
        )
        sides = frozenset(found.base_ids), frozenset(found.other_ids)
        judged.setdefault(sides, ([], found))[0].append(f"{wording.plain(stick.name)}{named}")
    for sticks, found in judged.values():
        by = ", by their interleaved series" if found.interleaved and series.id not in found.other_ids else ""
        if len(found.base_ids) + len(found.other_ids) > 2:
            before = _average_of(found.base_ids, found.base_bytes_per_second)
            by += f", {before}, then {_average_of(found.other_ids, found.other_bytes_per_second)}"
        facts.append(
            Toned(f"Against {wording.listed(sticks)}{by}: {found.sign} {comparison_sentences(found)}", found.tone)
        )
    facts += what_is_proven(choices, known)
    if series.change and series.change.evidence is Evidence.CONTRADICTED and series.change.remark:
        facts.append(Toned(f"! {wording.plain(series.change.remark)}", Tone.CAUTION))
    if not known.yardsticks:
        facts.append("Nothing to compare it with yet: no series before it of this size, no baseline, none by FTP.")
    for each in known.findings[:4]:
        of = [(one.name, one.series) for one in known.yardsticks if one.series.id in each.series_ids]
        others = [f"{name} ({one.label or with_zone(one.created_at)})" for name, one in of]
        whose = "" if series.id in each.series_ids else f": {wording.plain(wording.listed(others))}"
        facts.append(Toned(f"{SIGNS[each.severity]} {each.title}{whose}", SIGNS[each.severity].tone))
    go_on = Option("Change one thing", Go(replace(choices, compared=True, step=MethodStep.CHANGE)), "the next round")
    options = list(next_of_proof(choices, known)) or [
        *_first_round(choices, series, compared),
        *_made_again(choices, series),
        go_on,
    ]
    advised = next((option for option in options if option.advised), options[0])
    options = [replace(option, advised=option is advised) for option in options]
    if known.proof and series.id not in {one.id for one in known.proof.other}:
        both: dict[str, object] = {"base": known.proof.base[0].id, "other": known.proof.other[0].id}
        options.append(Option("Side by side, with and without the change", Visit("compare", both)))
    options += [
        Option(f"Side by side with {name}", Visit("compare", {"base": series_id, "other": series.id}))
        for series_id, name in {stick.series.id: stick.name for stick in reversed(known.yardsticks)}.items()
    ][::-1]
    has_ftp = any(stick.name == "FTP" for stick in known.yardsticks)
    # FTP cannot flush, so that it is nothing to compare a flushed put with.
    if series.target.abilities.is_held_to_yardstick and not has_ftp and not series.flushed:
        options.append(_ftp(series, known))
    options += _many_users(choices)
    names = wording.plain(wording.listed([f'"{name}"' for name in known.kept_as]))
    kept = f"is baseline {names}" if names else "a name to compare with"
    options += [
        Option("Export the form…", Visit("export", {"ids": (series.id,)}), "text, PDF, spreadsheet, …"),
        Option("Keep it as a baseline…", _ask_baseline(choices, series.id), kept, is_value=True),
    ]
    levels = ((found.base_bytes_per_second, wording.plain(stick.name)) for stick, found in compared)
    level, name = next((one for one in levels if one[0] is not None), (None, ""))
    chart = acts.PageChart(form=form, expected_bytes_per_second=level, expected_name=name)
    compared_to = page(MethodStep.EXPECTED, facts, options, chart=chart)
    return replace(compared_to, title=comparing(choices, series))


def _made_again(choices: GuideChoices, series: Series) -> Iterator[Option]:
    if (name := choices.again_name) is None:
        return
    with suppress(UsageError):  # what was recorded elsewhere may have no such value
        change = Change(name=name, value=choices.again_value)
        act = Go(acts.changed(choices, series, name, choices.again_value))
        yield Option(f"Make the change again: {_changed_to(change)}", act, "its base is measured now", advised=True)


def _first_round(
    choices: GuideChoices, series: Series, compared: Sequence[tuple[Yardstick, Comparison]]
) -> Iterator[Option]:
    """The round that the series' warnings lead to, until there is a verdict beside one of the same protocol."""
    alike = [found for stick, found in compared if stick.series.target.protocol == series.target.protocol]
    keys = ("short",) if choices.quiet is acts.QuietChoice.WAIT else ("short", "busy")
    if not is_practice(series) and all(found.decided is Verdict.UNKNOWN for found in alike):
        yield from islice((one for one in better_rounds(choices, series, *keys) if one.advised), 1)


def _average_of(series: Sequence[str], rate: float | None) -> str:
    return wording.rate(rate) + f" averaged with {wording.count(len(series) - 1, 'repeat')}" * (len(series) > 1)


def _many_users(choices: GuideChoices) -> Iterator[Option]:
    target = choices.target
    if target is None or not target.abilities.moves_files or target.abilities.is_local:
        return
    arguments: dict[str, object] = {"target": format_target(target), "ssh": choices.spec.monitor.server_ssh or ""}
    yield Option("How many users does it carry?", Visit("load", arguments), "many at once, in a folder of its own")


def _ftp(series: Series, known: GuideContext) -> Option:
    ready = next((t for t in known.practice if t.abilities.is_yardstick and t.host == series.target.host), None)
    if ready is not None:
        return Option("Measure the same over FTP", acts.Connect(ready), "the practice server")
    user = f"{series.target.user}@" if series.target.user else ""
    server = f"ftp://{user}{series.target.host}/"
    other = ask("The same server over FTP", lambda text: acts.Connect(parse_target(text)), server, keep=True)
    return Option("Measure the same over FTP…", other, "what disk and network give without Samba")


def _ask_baseline(choices: GuideChoices, series_id: str) -> Ask:
    def taken(text: str) -> Store:
        name = text.strip()
        if why := why_no_baseline_name(name):
            raise UsageError(why)
        return Store(lambda notebook: notebook.set_baseline(name, series_id), choices, f"Kept as baseline {name}.")

    return ask("Baseline", taken)


PRACTICE_BLOCK = 16 * 1024
"""A quarter of what the practice server takes at once, which it answers in the same time."""
MOST_FROM_CATALOGUE = 5
MOST_TOLD = 3


def change_page(choices: GuideChoices, known: GuideContext) -> Page:
    if known.series is None:
        return Page(title="Change one thing", why="There is no series to start from yet.")
    series, form = known.series, run_form(known.series)
    made = [(change, compare_sides(sides, Limits(), settles=False)) for change, sides in known.made]
    decided = {(change.name, change.value) for change, found in made if found.decided is not Verdict.UNKNOWN}
    decided.add((choices.again_name or "", choices.again_value))
    options = [*_own_changes(choices, series, decided)]
    if not is_practice(series):  # which has no settings to change
        options = [*_ways_to_test(choices, series), *options, *_from_catalogue(series)]
    if again := list(_made_again(choices, series)):
        options = [*again, *(replace(one, advised=False) for one in options)]
    options += [
        Option("Nothing: measure the same again", Go(acts.same_again(choices)), "shows how much equal series differ"),
        Option("Another target or file", Go(acts.new_measurement(choices)), "a new round"),
        Option("Look it all up in the catalogue", Visit("catalogue"), "what can be changed, in order of impact"),
    ]
    shown = (
        [f"Smallest change that can be shown here: {before_a_change(form.shown)}"] if form.shown and not made else []
    )
    kept = []
    if series.change and series.change.evidence is not Evidence.CONTRADICTED and series.decision is None:
        kept.append(Toned(f"! {_changed_to(series.change)} is kept. To leave it out, go to step 7.", Tone.CAUTION))
    return page(
        MethodStep.CHANGE,
        (
            f"Base: {wording.name_of(series)}, {wording.rate(form.average_rate)}.",
            *kept,
            *(
                Toned(f"Tried since: {wording.plain(one.plan.name)}: {answer.text}", answer.tone)
                for one in known.tried
                for answer in [change_answer(one)]
            ),
            *(
                Toned(f"Measured with {_changed_to(change)}: {found.sign} {comparison_headline(found)}", found.tone)
                for change, found in made[:MOST_TOLD]
            ),
            *shown,
            "Everything else stays as it was.",
        ),
        options,
    )


def _own_changes(choices: GuideChoices, series: Series, decided: Container[tuple[str, str]]) -> Iterator[Option]:
    for name, value, title in _own_values(choices, series):
        with suppress(UsageError):  # not to be had there
            act = Go(acts.changed(choices, series, name, value))
            if (name, value) not in decided:
                said, advised = f"applied automatically. {find(name).expect}", name == "block" and is_practice(series)
                yield Option(title, act, said, advised=advised)


def _own_values(choices: GuideChoices, series: Series) -> Iterator[tuple[str, str, str]]:
    """Name, value and title."""
    client, practice = series.client, is_practice(series)
    if (depth := client.in_flight) and not practice:
        value = 1 if depth > 1 else 4
        yield "in-flight", str(value), f"Requests in flight (client's in-flight): {depth} → {value}"
    if block := client.block_bytes:
        usual, otherwise = (PRACTICE_BLOCK, 65536) if practice else (65536, 1024**2)
        typed = wording.typed_size(usual if block > usual else otherwise)
        yield "block", typed, f"Request size (client's block): {wording.typed_size(block)} → {typed}"
    settings = choices.spec.settings
    for name, what, is_on, in_session in (
        ("encrypt", "Encryption", settings.encrypt, client.encryption),
        ("sign", "Signing", settings.sign, client.signing),
    ):
        if is_on or (in_session == "none" and not client.is_encrypted):
            way, switched = ("on → off", "no") if is_on else ("off → on", "yes")
            yield f"client {name}", switched, f"{what} (client {name}): {way}"


def _from_catalogue(series: Series) -> Iterator[Option]:
    if not series.target.abilities.has_share:
        return
    for entry in islice(relevant(series), MOST_FROM_CATALOGUE):
        visit = Visit("entry", {"entry": entry.name, "share": series.target.share})
        yield Option(f"{entry.parameter} (smb.conf)…", visit, entry.expect or entry.does)


_EXAMPLE = "NAME = VALUE, such as: server signing = mandatory."


def _typed_change(text: str) -> tuple[str, str]:
    if "://" in text.partition("=")[0] or ("=" not in text and text.strip().startswith(("/", "\\\\"))):
        raise UsageError("a target is no setting: leave this question; n starts a new measurement of another target")
    name, value = parse_change(text)
    found = about(name) if spelling(name).parameter else about(name) or about(f"client {name}")
    entry = next((one for one in found if one.kind is EntryKind.SMB_CONF or not spelling(name).parameter), None)
    return (entry.name if entry and entry.kind in (EntryKind.SMB_CONF, EntryKind.CLIENT) else name), value


def _ways_to_test(choices: GuideChoices, series: Series) -> Iterator[Option]:
    def asked(heading: str, what: str, then: Callable[[str, str], acts.Act], *, keep: bool = False) -> Ask:
        return Ask(heading=heading, text=f"{_EXAMPLE} {what}", then=lambda text: then(*_typed_change(text)), keep=keep)

    def by_hand(each: int) -> Callable[[str, str], acts.Act]:
        return lambda *change: Go(replace(acts.changed(choices, series, *change), interleaved=each))

    can_try, own = series.target.abilities.through_samba, acts.OWN_CHANGES if series.client.name == OWN else ()
    if can_try:
        tried = asked(
            "Try a setting of the server", "It asks before it writes.",
            lambda name, value: Go(acts.changed(choices, series, name, value)) if name in own
            else Visit("trial", {"setting": f"{name} = {value}"}), keep=True,
        )  # fmt: skip
        hint = "sharebench sets it, measures interleaved pairs and restores it"
        yield Option("Try a setting of the server…", tried, hint, advised=True)
    title, what = "Change a setting by hand, interleaved", "You change it on the server whenever the guide says so."
    hint = f"{2 * LEAST_ALTERNATING - 1} more series; the guide says now A, now B"
    yield Option(f"{title}…", asked(title, what, by_hand(LEAST_ALTERNATING)), hint, advised=not can_try)
    title, hint = "Change a setting by hand, before and after", "one more series; shows large changes"
    yield Option(f"{title}…", asked(title, "You make it once.", by_hand(0)), hint)


def _measured_so_far(proof: Sides | None) -> tuple[int, int, bool]:
    """The series of A and of B since the change was first made, and whether the last one was B."""
    if proof is None:
        return 1, 0, False
    base, other = proof.base, proof.other
    first, last = (pick(one.created_at for one in other) for pick in (min, max))
    later = [one.created_at for one in base if one.created_at > first]
    return 1 + len(later), len(other), last > max(later, default="")


def _restored_by_trial(proof: Sides, *series: Series) -> bool:
    """Whether a trial came after these series, which restores what was there without the change."""
    return proof.tried is not None and all(one.created_at < proof.tried.experiment.created_at for one in series)


def turn_text(choices: GuideChoices, known: GuideContext) -> str:
    """What to set before the next series of a change that is interleaved by hand, and the count."""
    count_a, count_b, last_is_b = _measured_so_far(known.proof)
    change = (
        _proven(known.proof)
        if known.proof
        else Change(name=choices.spec.lineage.change_name or "", value=choices.spec.lineage.change_value)
    )
    is_b = known.proof is None or choices.spec.lineage.base_id == known.proof.other[0].id
    who = "Make it on the server now, then start." if is_b else "Restore it on the server now, then start."
    if change.name in acts.OWN_CHANGES:
        who = "Applied automatically: start."
    elif known.proof and is_b == (last_is_b and not _restored_by_trial(known.proof, *known.proof.other)):
        who = "It is set already: start."
    return (
        f"Now {'B' if is_b else 'A'}: {_setting(change, is_b=is_b)}. {who} Series {count_a + count_b + 1} of"
        f" {2 * choices.interleaved}; measured so far: A {count_a}, B {count_b}."
    )


def _setting(change: Change, *, is_b: bool) -> str:
    value = change.value if is_b else change.previous
    as_it_was = f"{wording.plain(change.name)} as it was"
    return as_it_was if value is None else _changed_to(replace(change, value=value))


def _changed_to(change: Change) -> str:
    return wording.plain(f"{change.name} = {wording.value_of(change.name, change.value)}")


def after_measuring(choices: GuideChoices, known: GuideContext) -> GuideChoices:
    """Where the guide continues after a series: at the next turn of an interleaved change, else at the next step."""
    series = known.series
    if not choices.interleaved or known.proof is None or series is None or series.status is not SeriesStatus.COMPLETE:
        return replace(choices, step=next_step(choices, known, MethodStep.WARM_UP))
    if min(_measured_so_far(known.proof)[:2]) >= choices.interleaved:
        return replace(choices, step=MethodStep.EXPECTED, reviewed=True)
    return next_turn(choices, known.proof, choices.interleaved)


def next_turn(choices: GuideChoices, proof: Sides, each: int) -> GuideChoices:
    """The next of ``each`` series a side that are interleaved by hand: A B B A."""
    count_a, count_b, last_is_b = _measured_so_far(proof)
    is_b = last_is_b if (count_a + count_b) % 2 == 0 else not last_is_b
    again = acts.measured_again(choices, proof.other[0] if is_b else proof.base[0], proof.other[0].id)
    return replace(again, interleaved=each)


_REPEATS_WOULD_TELL = (Doubt.BASE_VARIED, Doubt.TREND)


def what_to_set(choices: GuideChoices, known: GuideContext) -> Iterator[str]:
    """For the run: which settings are measured again, and who makes them."""
    if known.proof is None or choices.proven_id is None:
        return
    change, is_b = _proven(known.proof), choices.spec.lineage.base_id == known.proof.other[0].id
    who = "Do it on the server now, then start; the form says what was seen there."
    if change.name in acts.OWN_CHANGES:
        who = "Applied automatically."
    yield f"Measured again, the change {'made again' if is_b else 'restored'}: {_setting(change, is_b=is_b)}. {who}"


def what_is_proven(choices: GuideChoices, known: GuideContext) -> Iterator[str | Toned]:
    """For the comparison: what all series of both sides say of the change."""
    if known.proof is None:
        return
    told_already = any(stick.series.id == known.proof.base[0].id for stick in known.yardsticks)
    if choices.proven_id is None and told_already:
        return
    found, change = compare_sides(known.settled or known.proof, Limits()), _proven(known.proof)
    counts = f"{len(known.proof.base)} against {len(known.proof.other)} series"
    yield Toned(f"{_changed_to(change)}, {counts}: {found.sign} {comparison_sentences(found)}", found.tone)
    if known.series and known.series.id not in {one.id for one in (*known.proof.base, *known.proof.other)}:
        yield f"! Series {known.series.id} shows other settings than what it was to repeat, so it is not counted."


def next_of_proof(choices: GuideChoices, known: GuideContext) -> Iterator[Option]:
    """What can be done for or with the proof, the likeliest first; nothing where no change was made."""
    if known.proof is None or known.series is None:
        return
    found = compare_sides(known.settled or known.proof, Limits())
    base, changed = known.proof.base[0], known.proof.other[0]
    changed_last = known.series.id in {one.id for one in known.proof.other}
    is_made = changed_last and not _restored_by_trial(known.proof, known.series)
    step = None if is_practice(base) else found.settle
    once_more = not choices.interleaved and (step is None or step.way is Way.BASE_AGAIN)
    longer = needs_longer_runs(found)
    open_still = once_more and not longer and known.proof.tried is None and found.doubt in _REPEATS_WOULD_TELL
    faster, next_one = found.decided is Verdict.FASTER, "the next change is made from"
    to_settle = found.decided is Verdict.UNKNOWN
    kept = Store(partial(decide, series_id=changed.id, decision=Decision.KEPT), acts.from_there(changed))
    left = Store(partial(decide, series_id=changed.id, decision=Decision.REVERTED), acts.from_there(base))
    by_hand = (proven := _proven(known.proof)).name not in acts.OWN_CHANGES
    keeping = "make it again on the server first" if by_hand and not is_made else f"{next_one} there"
    first = "restore it on the server first" if by_hand and is_made else ""
    decisions = [
        Option("Keep the change, and go on from there", kept, keeping, advised=faster),
        Option("Leave the change out, and change something else", left, first or f"{next_one} the base"),
    ]
    if found.doubt is Doubt.CONTRADICTED:
        if by_hand:
            anew = acts.changed(acts.from_there(base), base, proven.name, proven.value)
            again = Go(replace(anew, quiet=choices.quiet, kerberos=choices.kerberos, interleaved=choices.interleaved))
            yield Option("Make the change now, measure again", again, advised=True)
        yield replace(decisions[1], hint=f"{next_one} the base", advised=not by_hand)
        return
    if to_settle:
        yield from _settling(choices, known.proof, found, step, first)
    elif not faster:
        decisions = [replace(decisions[1], advised=True), decisions[0]]
    if not to_settle:
        yield from decisions
    if changed_last:
        again = Go(acts.measured_again(choices, base, changed.id))
        yield Option("Restore the base, measure again", again, "whether the base comes back", advised=open_still)
    else:
        again = Go(acts.measured_again(choices, changed, changed.id))
        yield Option("Make the change again, measure again", again, "one more series with it", advised=open_still)
    if to_settle:
        yield from decisions


def _settling(
    choices: GuideChoices, proof: Sides, found: Comparison, step: SettlingStep | None, first: str
) -> Iterator[Option]:
    varies, longer = proof.tried and proof.tried.doubt is Doubt.VARYING, needs_longer_runs(found)
    if varies or longer:
        name, way = BETTER["short"]
        change = _proven(proof)
        base = acts.to_be_made_again(acts.from_there(proof.base[0]), change)
        base = replace(
            base,
            quiet=choices.quiet,
            kerberos=choices.kerberos,
            series_id=None,
            reviewed=False,
            compared=False,
        )
        larger = Go(way(base))
        why = "the pairs of the trial vary too much" if varies else first or "the runs vary too much"
        why += "; first without the change, then make it again"
        yield Option(name, larger, why, advised=True)
    if can_interleave(found):
        again: dict[str, object] = {"base": found.base_id, "other": found.other_id, "runs": found.needed_runs}
        yield Option(interleaving(found), Visit("interleaved", again), "would settle it", advised=True)
    elif choices.interleaved and not varies:
        more = next_turn(choices, proof, choices.interleaved + 1)
        yield Option("One more series of each, interleaved", Go(more), "narrows the interval", advised=not longer)
    elif step and step.way is Way.TRY:
        trial = Visit("trial", {"setting": step.setting})
        yield Option("Let sharebench try it", trial, first or "interleaved pairs, then restored", advised=True)
    elif step and step.way is Way.INTERLEAVED:
        both = {"base": proof.base[0].id, "other": proof.other[0].id, "runs": step.count}
        yield Option("Measure both again, interleaved", Visit("interleaved", both), "run by run", advised=True)
    elif step and step.series_a_side:
        more = next_turn(choices, proof, step.series_a_side)
        yield Option("Measure both again, alternating", Go(more), "the guide says now A, now B", advised=True)


def _proven(proof: Sides) -> Change:
    assert proof.other[0].change
    return proof.other[0].change


_PAGES = (target_page, file_page, quiet_page, warm_up_page, run_page, review_page, expected_page, change_page)


def page_of(choices: GuideChoices, known: GuideContext) -> Page:
    return _PAGES[acts.STEPS.index(choices.step)](choices, known)
