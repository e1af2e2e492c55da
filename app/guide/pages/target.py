"""The page on which a target is chosen."""

from pathlib import Path

from app.base.errors import UsageError
from app.base.targets import parse_target_with_login, parse_typed_target
from app.guide.context import GuideContext
from app.guide.page import Ask, Connect, Option, Page, Visit, ask_question, step_page
from app.guide.pages import beside, link
from app.guide.pages.before_change import baseline_options
from app.method.choices import GuideChoices, MethodStep, is_same_server
from forms import wording
from storage.records import Target, format_target

_JUST_THE_NUMBERS = Option(
    "Just the numbers? A quick test", Visit("quick"), "the four lines of CrystalDiskMark, 1½ minutes"
)


def target_page(choices: GuideChoices, context: GuideContext) -> Page:
    chosen = choices.target
    recent = [target for target in context.recent if chosen is None or not is_same_server(target, chosen)]
    last_targets = [target for target in (chosen, *recent) if target]
    last = format_target(last_targets[0]) if last_targets else ""

    options = [*beside.lacking_options(choices), *baseline_options(choices, context.newest_baseline)]
    if chosen is not None:
        options.append(
            Option(_place_text(chosen), Connect(chosen, choices.kerberos, choices.credentials), "chosen now")
        )
    for target in context.practice:
        is_advised = context.newest_baseline is None
        options.append(Option(_place_text(target), Connect(target), "practice server, ready", advised=is_advised))
    options += [Option(_place_text(target), Connect(target), "measured before") for target in recent]
    for name, target in context.servers:
        options.append(Option(wording.plain(name), Connect(target), _place_text(target)))

    has_place = bool(options)
    options += [
        Option("Type a target…", _ask_target(last), "smb://…, ftp://…, /a/folder", advised=not has_place),
        Option("Type a target, log in with a Kerberos ticket…", _ask_target(last, kerberos=True), "kinit first"),
        Option("Log in with a credentials file…", _ask_credentials(), "username = …, password = …"),
        *beside.target_options(choices),
        Option("Slow since Monday? Measure everything first", Visit("survey"), "SMB, FTP, bare TCP, interleaved"),
        Option("Is the server set up wrong? Audit its settings", Visit("audit"), "nothing is measured"),
    ]
    if not has_place:
        # The first choice of whoever begins; Enter still takes the one below, which leads through the method.
        return step_page(MethodStep.TARGET, (), [_JUST_THE_NUMBERS, *options], cursor=1)
    options.append(_JUST_THE_NUMBERS)
    if chosen is None:
        return step_page(MethodStep.TARGET, (), options)
    options.append(link.link_option(choices, context, MethodStep.TARGET))
    facts = [*link.known_link_fact(choices, context), *beside.others_facts(choices)]
    return step_page(MethodStep.TARGET, facts, options)


def _place_text(target: Target) -> str:
    return wording.plain(format_target(target))


def _ask_target(value: str, *, kerberos: bool = False) -> Ask:
    def connect(text: str) -> Connect:
        target, credentials = parse_target_with_login(text)
        return Connect(target, kerberos=kerberos and not credentials, credentials=credentials)

    return ask_question("Target", connect, value, keep=True, is_target=True)


def _ask_credentials() -> Ask:
    def ask_for_target(path: str) -> Ask:
        def connect(text: str) -> Connect:
            return Connect(parse_typed_target(text), credentials=path)

        if not Path(path).expanduser().is_file():
            raise UsageError(f"no file {path!r}; name the one that holds user and password")
        return ask_question("Target of the credentials", connect, keep=True, is_target=True)

    return ask_question("Credentials file", ask_for_target, keep=True)
