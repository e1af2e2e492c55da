"""The pages of the steps before the run, and of the review."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from app.base.errors import UsageError
from app.base.targets import parse_typed_target
from app.base.units import parse_rate, parse_size
from app.guide import choices as acts
from app.guide.choices import Ask, Connect, Go, GuideChoices, MethodStep, Option, Page, Visit, ask, page
from app.guide.known import GuideContext, around, next_step
from forms import wording
from forms.exporters.text import drawn_table
from forms.findings.series_warnings import MANY_RUNS, advice
from forms.layout import Tone, Toned, pad
from forms.series import estimate, file_size, summary
from forms.series import wording as series_wording
from forms.series.report import resumed_text
from forms.series.run_table import mark_of, run_table
from forms.wording import link_rate
from storage.plan import DEFAULT_RUNS, MOST_RUNS, MOST_WARMUPS
from storage.records import Command, Phase, Quiet, RunStatus, Series, Target, format_target


def target_page(choices: GuideChoices, known: GuideContext) -> Page:
    options = [Option(_named(one), Connect(one), "practice server, ready", advised=True) for one in known.practice]
    chosen = choices.target
    recent = [target for target in known.recent if chosen is None or not acts.is_same_server(target, chosen)]
    options += [Option(_named(target), Connect(target), "measured before") for target in recent]
    options += [Option(wording.plain(name), Connect(target), _named(target)) for name, target in known.servers]
    if chosen is not None:
        options.insert(0, Option(_named(chosen), Connect(chosen, choices.kerberos), "chosen now"))
    last = next((format_target(target) for target in (chosen, *recent) if target), "")
    options += [
        Option("Type a target…", _ask_target(last), "smb://…, ftp://…, /a/folder", advised=not options),
        Option("Type a target, log in with a Kerberos ticket…", _ask_target(last, kerberos=True), "kinit first"),
        Option("Log in with a credentials file…", _ask_credentials(), "username = …, password = …"),
        Option("Slow since Monday? Look at everything first", Visit("survey"), "SMB, FTP, bare TCP, interleaved"),
        Option("Is the server set up wrong? Audit its settings", Visit("audit"), "nothing is measured"),
    ]
    return page(MethodStep.TARGET, (), options)


def _named(target: Target) -> str:
    return wording.plain(format_target(target))


def _ask_target(value: str, *, kerberos: bool = False) -> Ask:
    return ask("Target", lambda text: Connect(parse_typed_target(text), kerberos=kerberos), value, keep=True)


def _ask_credentials() -> Ask:
    def target_of(path: str) -> Ask:
        if not Path(path).expanduser().is_file():
            raise UsageError(f"no file {path!r}; name the one that holds user and password")
        return ask(
            "Target of the credentials", lambda text: Connect(parse_typed_target(text), credentials=path), keep=True
        )

    return ask("Credentials file", target_of, keep=True)


def file_page(choices: GuideChoices, known: GuideContext) -> Page:
    size_context = around(choices, known)
    size = file_size.advised_bytes(size_context)
    advice = f"Recommended: {series_wording.advised_size_sentences(size_context)}"
    facts = [_link_fact(choices, known), advice]
    options: list[Option] = []
    if choices.file is not None and choices.file_bytes is not None and choices.target is not None:
        suits = series_wording.suitability(choices.file_bytes, size_context)
        name = wording.plain(choices.file.rpartition("/")[2])
        practised = any(target.host == choices.target.host for target in known.practice)
        why = "Enough for practice." if practised else suits.why
        facts.append(f"File: {name}, {wording.file_size(choices.file_bytes)} ({_fit(suits.word)}). {why}")
        get_it = acts.with_picked_file(choices)
        usable = suits.word is not file_size.FileFit.EMPTY
        suited = usable and (practised or suits.word in _ADVISED_FITS)
        if suited and size_context.expected_bytes_per_second is None:
            facts.remove(advice)  # it is a guess beside a file that is there to be tried
        act = _go_on(get_it, known) if usable else None
        options.append(Option(f"Get {name}", act, _fit(suits.word), advised=suited))
    made, typed = "sharebench creates it, and removes it afterwards", wording.typed_size(size)
    get_made = _made(choices, known, Command.GET, size)
    if choices.target is not None and not choices.target.abilities.moves_files:
        options.append(Option(f"Get {typed} a run", get_made, advised=True))
    else:
        is_first = not any(option.advised for option in options)
        options.append(Option(f"Get a file of {typed}", get_made, made, advised=is_first))
    reach = Connect(choices.target, choices.kerberos) if choices.target else None
    options += [
        *_puts(choices, known, size),
        Option("Get a file of another size…", _ask_size(choices, known, Command.GET, size), made),
        Option("Put a file of another size…", _ask_size(choices, known, Command.PUT, size), made),
        Option("Pick another file", reach, "look into the share"),
        Option("Set the link speed…", _ask_link(choices), "100M, 1G, 10G; only for the percentage"),
    ]
    cursor = next((index for index, option in enumerate(options) if option.advised), 0)
    return page(MethodStep.FILE, facts, options, cursor=cursor)


def _puts(choices: GuideChoices, known: GuideContext, size: int) -> Iterator[Option]:
    """A put timed until the server has answered and, where the protocol can, one timed until the flush."""
    typed = wording.typed_size(size)
    answered = _made(choices, known, Command.PUT, size)
    yield Option(f"Put a file of {typed}", answered, "until the server has answered; it may not be on the disk yet")
    if choices.target is not None and choices.target.abilities.can_flush:
        flushed = _made(choices, known, Command.PUT, size, flush=True)
        yield Option(f"Put a file of {typed}, flushed", flushed, "until it is on the disk")


_ADVISED_FITS = (file_size.FileFit.WELL, file_size.FileFit.LARGE, file_size.FileFit.UNKNOWN)


def _fit(fit: file_size.FileFit) -> str:
    return "not yet known if it is large enough" if fit is file_size.FileFit.UNKNOWN else str(fit)


def _link_fact(choices: GuideChoices, known: GuideContext) -> str:
    rate, why = known.link.bits_per_second, wording.plain(known.link.why) or "not looked at"
    if choices.spec.link_bits_per_second not in (None, rate):
        return f"Link: {link_rate(choices.spec.link_bits_per_second)}, as given."
    return f"Link: {link_rate(rate) if rate else 'rate not known'} ({why})."


def _go_on(choices: GuideChoices, known: GuideContext, after: MethodStep = MethodStep.FILE) -> Go:
    """``known`` may tell of the series before, which is none of what was just chosen."""
    of_it = known if choices.series_id else replace(known, series=None)
    return Go(replace(choices, step=next_step(choices, of_it, after)))


def _made(choices: GuideChoices, known: GuideContext, command: Command, size: int, *, flush: bool = False) -> Go:
    return _go_on(acts.with_made_file(choices, command, size, flush=flush), known)


def _ask_size(choices: GuideChoices, known: GuideContext, command: Command, size: int) -> Ask:
    typed = wording.typed_size(size)
    flush = choices.spec.settings.flush and command is Command.PUT

    def take_size(text: str) -> Go:
        return _made(choices, known, command, parse_size(text), flush=flush)

    return ask("Size of the file", take_size, typed)


def _ask_link(choices: GuideChoices) -> Ask:
    def taken(text: str) -> Go:
        rate = None if text.strip() in {"", "auto"} else parse_rate(text)
        spec = replace(choices.spec, link_bits_per_second=rate)
        return Go(replace(choices, spec=spec, step=MethodStep.FILE))

    return ask("Rate of the link", taken, "auto")


def quiet_page(choices: GuideChoices, known: GuideContext) -> Page:
    def take(choice: acts.QuietChoice) -> Go:
        return _go_on(replace(choices, quiet=choice), known, MethodStep.QUIET)

    return page(
        MethodStep.QUIET,
        _seen(known.quiet),
        (
            *(
                Option(words["name"], take(choice), words["hint"], advised=choice is acts.QuietChoice.RECORD)
                for choice in acts.QuietChoice
                for words in [acts.WORDS[MethodStep.QUIET][choice]]
            ),
            Option(
                "Look now", acts.Simple.LOOK_QUIET if choices.target else None, "takes some seconds; nothing is decided"
            ),
        ),
        cursor=list(acts.QuietChoice).index(choices.quiet or acts.QuietChoice.RECORD),
    )


def _seen(quiet: Quiet | None) -> Iterator[str]:
    if quiet is None:
        return
    yield f"Just now: {quiet.verdict}."
    yield from (f"- {wording.plain(reason)}" for reason in quiet.reasons)


def warm_up_page(choices: GuideChoices, known: GuideContext) -> Page:
    def with_numbers(warmups: int, runs: int, until_percent: float | None = None) -> GuideChoices:
        counts = replace(choices.spec.counts, warmups=warmups, runs=runs, until_percent=until_percent)
        return replace(acts.with_counts(choices, counts), counted=True)

    def option(title: str, hint: str, taken: GuideChoices, *, advised: bool = False) -> Option:
        goes = _go_on(taken, known, MethodStep.WARM_UP)
        return Option(title, goes, f"{hint}: {prospect_of(taken, known)}", advised=advised)

    def asked_for(text: str) -> Go:
        words = text.replace(",", " ").replace("+", " ").split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            raise UsageError(f"not two numbers: {text!r}; write warm-up runs and measured runs, such as 2 5")
        warmups, runs = (int(word) for word in words)
        if not 1 <= runs <= MOST_RUNS or warmups > MOST_WARMUPS:
            raise UsageError(f"measured runs go from 1 to {MOST_RUNS}, warm-up runs from 0 to {MOST_WARMUPS}")
        return _go_on(with_numbers(warmups, runs), known, MethodStep.WARM_UP)

    other = ask("Warm-up and measured runs", asked_for, f"{choices.spec.counts.warmups} {choices.spec.counts.runs}")
    return page(
        MethodStep.WARM_UP,
        (),
        (
            option("2 warm-up, 5 measured", "the form", with_numbers(2, 5), advised=True),
            option("2 warm-up, 10 measured", "more precise", with_numbers(2, 10)),
            option("1 warm-up, 3 measured", "a first look", with_numbers(1, 3)),
            option("Until the average is known to ± 2 %", "up to 30 runs", with_numbers(2, 5, until_percent=2.0)),
            Option("Other numbers…", other, "warm-up runs, then measured runs"),
        ),
    )


def prospect_of(choices: GuideChoices, known: GuideContext) -> str:
    context = around(choices, known)
    measured, link = context.measured_bytes_per_second, context.link_bits_per_second
    rate = estimate.expected_rate(choices.target, measured=measured, link=link)
    makes_first = choices.makes_file and choices.spec.command is Command.GET
    counts = choices.spec.counts
    return estimate.estimate_text(
        size_bytes=choices.run_bytes,
        rate=rate,
        makes_file_first=makes_first,
        runs=counts.runs,
        warmups=counts.warmups,
        until_percent=counts.until_percent,
        max_runs=counts.max_runs,
    )


def _with_more_runs(choices: GuideChoices) -> GuideChoices:
    counts = choices.spec.counts
    return acts.with_counts(choices, replace(counts, runs=max(MANY_RUNS, 2 * counts.runs)))


def _with_more_warmups(choices: GuideChoices) -> GuideChoices:
    counts = choices.spec.counts
    return acts.with_counts(choices, replace(counts, warmups=counts.warmups + 3))


def _with_larger_file(choices: GuideChoices) -> GuideChoices:
    """Back to the choice of a file; a larger one needs no more runs than usual."""
    counts = choices.spec.counts
    fewer = replace(counts, runs=min(counts.runs, DEFAULT_RUNS))
    return replace(acts.with_counts(choices, fewer), step=MethodStep.FILE)


def _at_quiet_time(choices: GuideChoices) -> GuideChoices:
    return replace(choices, quiet=acts.QuietChoice.WAIT)


_WAIT = ("Measure again, and wait for a quiet time first", _at_quiet_time)
_RUNS = ("Measure again with more runs", _with_more_runs)
_WARMUPS = ("Measure again with more warm-up runs", _with_more_warmups)
_FILE = ("Measure again with a larger file", _with_larger_file)
QUIET_FILE = (
    "Measure again with a larger file, at a quiet time",
    lambda choices: _with_larger_file(_at_quiet_time(choices)),
)
BETTER: dict[str, tuple[str, Callable[[GuideChoices], GuideChoices]]] = {
    "busy": _WAIT, "short": _FILE, "scatter": _RUNS, "single": _RUNS, "until": _RUNS, "warm-up": _WARMUPS,
    "drift": _WARMUPS,
}  # fmt: skip
"""What the advice of that key leads to, and how it changes the choices."""


def advised_rounds(series: Series) -> list[tuple[str, Callable[[GuideChoices], GuideChoices]]]:
    """What the warnings of a series lead to, each once, a larger file first, then the gravest."""
    found = dict.fromkeys(BETTER[said.key] for said in advice(series) if said.key in BETTER)
    if _FILE in found and _WAIT in found:
        found = {QUIET_FILE: None, **{one: None for one in found if one not in {_FILE, _WAIT}}}
    return sorted(found, key=lambda one: one not in {_FILE, QUIET_FILE})


def comparing(choices: GuideChoices, series: Series) -> str:
    if series.change is not None or choices.proven_id is not None:
        return "See what the change did"
    return "Compare with the series before" if choices.spec.lineage.base_id else "Compare with the expected"


def better_rounds(choices: GuideChoices, series: Series, *advised: str) -> list[Option]:
    """What the warnings of a series lead to; ``advised``: the keys in BETTER of what is recommended."""
    anew, names = acts.same_again(choices), {BETTER[key][0] for key in advised}
    names |= {QUIET_FILE[0]} if _FILE[0] in names else set()
    return [Option(name, Go(way(anew)), "a new series", advised=name in names) for name, way in advised_rounds(series)]


_NAME, _SECONDS, _RATE, _SHARE = 9, 9, 13, 8


def review_page(choices: GuideChoices, known: GuideContext) -> Page:
    if known.series is None:
        return Page(title="Review", why="There is no series to review yet.")
    series, form, anew = known.series, summary.run_form(known.series), acts.same_again(choices)
    go_on = Go(replace(choices, reviewed=True, step=MethodStep.EXPECTED))
    table = (*_table(form), *_averages(form))
    of_change = series.change is not None or choices.proven_id is not None
    rounds = better_rounds(choices, series, *(() if of_change else ("short",)))
    longer = any(option.advised for option in rounds)
    act, hint = go_on if series.measured() else None, "" if of_change else "baselines, FTP, the link"
    compare = Option(comparing(choices, series), act, hint, advised=not longer)
    whole = Option("See the whole form", Visit("series", {"series_id": series.id}), "with its chart")
    again = Option("Measure the same again", Go(anew), "a new series")
    options = (*table, *((*rounds[:1], compare, *rounds[1:], whole) if longer else (compare, whole, *rounds)), again)
    return page(
        MethodStep.REVIEW,
        _said(form),
        options,
        headline=tuple(series_wording.series_headline(form)),
        columns=_line("Run", "Seconds", "Rate", "of link" if series.link_bits_per_second else ""),
        cursor=len(table),
        chart=acts.PageChart(form=form),
    )


def _said(form: summary.SeriesSummary) -> tuple[Toned, ...]:
    series = form.series
    warnings = tuple(Toned(f"! {said.text}", Tone.CAUTION) for said in advice(series))
    if series.resumed_at:
        warnings = (Toned(f"! Resumed: {resumed_text(series)}", Tone.CAUTION), *warnings)
    return warnings or (Toned("No problems found.", Tone.GOOD),)


def _table(form: summary.SeriesSummary) -> Iterator[Option]:
    for row in form.all_rows:
        mark = mark_of(row)
        title = _measured(row.label, row.measures, form)
        if row.run.phase is Phase.WARM_UP or row.run.status is RunStatus.FAILED:
            act, hint = None, wording.plain(row.run.error or mark.value)
        elif row.run.status is RunStatus.REJECTED:
            hint = f"left out: {wording.plain(row.run.reason or 'no reason given')}"
            act = acts.Judge(row.run.number, RunStatus.VALID)
        else:
            hint = f"counts, unusual: {wording.unusual_text(row.unusual)}" if row.unusual else "counts"
            act = acts.Judge(row.run.number, RunStatus.REJECTED)
        yield Option(title, act, hint, mark=mark, is_value=True)


def _averages(form: summary.SeriesSummary) -> Iterator[Option]:
    for name, measures in (
        ("Average", form.average),
        ("Deviation", form.deviation),
        ("With all", form.average_with_rejected),
    ):
        if measures is not None:
            hint = "the average if nothing were left out" if measures is form.average_with_rejected else ""
            yield Option(_measured(name, measures, form), None, hint, result=True)


def _measured(name: str, measures: summary.RunMeasures, form: summary.SeriesSummary) -> str:
    percent, rate = measures.percent_of_link, wording.rate(measures.bytes_per_second, beside=form.average_rate)
    share = wording.ABSENT if percent is None else f"{wording.cell_percent(percent)} %"
    return _line(name, wording.cell_seconds(measures.seconds), rate, share if form.series.link_bits_per_second else "")


def _line(name: str, seconds: str, rate: str, share: str) -> str:
    numbers_of = ((seconds, _SECONDS), (rate, _RATE), (share, _SHARE if share else 0))
    return pad(name, _NAME) + " ".join(pad(text, cells, right=True) for text, cells in numbers_of if cells)


def filling_table(form: summary.SeriesSummary, width: int, height: int) -> str:
    """As much of the table as ``height`` lines show while it fills in: the oldest runs give way."""
    seen = form.all_rows[-height:] if height > 0 else ()
    warm_ups = tuple(row for row in seen if row.run.phase is Phase.WARM_UP)
    drawn = drawn_table(run_table(replace(form, warm_ups=warm_ups, rows=seen[len(warm_ups) :])), width, ansi=True)
    headings, rows = list(drawn.headings), [line for lines in drawn.rows for line in lines]
    room = height - len(headings)
    if len(rows) > room > 0:
        rows = ["⋮", *rows[len(rows) - room + 1 :]]
    return "\n".join([*headings, *rows])
