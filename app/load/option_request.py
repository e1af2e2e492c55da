"""The request that the options of `sharebench load` ask for; ``choices`` are their values by name."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.base.errors import UsageError
from app.base.own_names import is_load_folder
from app.base.ssh_address import check_ssh_host
from app.base.targets import parse_target
from app.clients.base import Secrets
from app.load.scenario import change_scenario, find_scenario, parse_users
from app.load.spec import USUAL_USERS, LoadRequest
from app.recording.spec import SeriesSpec, check_smb_settings
from forms.tuning.imitated_clients import sends_single_requests
from storage.load import records
from storage.records import Target


def check_options(urls: Sequence[str], choices: Mapping[str, Any]) -> None:
    """Raises UsageError for a missing target and for options that contradict each other."""
    if not urls:
        raise UsageError("name a TARGET: a folder on a share, such as smb://HOST/SHARE/FOLDER")
    if choices["by_size"] and choices["find_capacity"]:
        raise UsageError("--by-size measures fixed numbers of users: leave --find-capacity out, or ask for it after")
    if choices["reuse_files"] is not None and not is_load_folder(choices["reuse_files"]):
        raise UsageError(
            "--reuse-files: name the folder that --keep-files left, .sharebench-load-…; no other is touched"
        )


def check_options_of_several(choices: Mapping[str, Any], scenario: records.Scenario) -> None:
    """Raises UsageError for what several machines that take turns cannot do."""
    several = "several --from are compared"
    if choices["find_capacity"]:
        raise UsageError(f"{several} at the same numbers of users: name these with --users, or name one --from")
    if choices["textfile"]:
        raise UsageError(f"--textfile tells of one load, and {several}: leave it out, or name one --from")
    if not scenario.requests:
        raise UsageError(f"{several} by their requests, and {scenario.name} makes none: name one --from")


def scenario_of(choices: Mapping[str, Any]) -> records.Scenario:
    """The named scenario, changed by options. Raises UsageError."""
    return change_scenario(
        find_scenario(choices["scenario"]),
        files=choices["files"],
        think=choices["think"],
        sizes=choices["sizes"],
        seed=choices["seed"],
        duration_seconds=choices["duration"],
        settle_seconds=choices["settle"],
        pace_seconds=choices["pace"],
        read=choices["read_percent"],
    )


def load_choices_of(spec: SeriesSpec, choices: Mapping[str, Any], from_host: str | None = None) -> records.LoadChoices:
    """``from_host``: the machine that makes the load; None for this one. Raises UsageError."""
    users = choices["users"]
    searches_from_usual = users is None and choices["find_capacity"]
    hosts = tuple(word.strip() for word in (choices["hosts"] or "").split(",") if word.strip())
    for host in hosts:
        check_ssh_host(host, "--workers-on")
    if from_host is not None and hosts:
        raise UsageError("one machine makes the load, or several", options="leave out --from or --workers-on")
    # Of another machine the number of processors is known once it is reached.
    processors = len(os.sched_getaffinity(0)) if from_host is None else 0

    return records.LoadChoices(
        users=() if searches_from_usual else parse_users(users or USUAL_USERS),
        find_capacity=choices["find_capacity"],
        by_size=choices["by_size"],
        limit_seconds=choices["limit_seconds"],
        single_requests=sends_single_requests(spec.settings),
        like=spec.settings.like,
        ramp_per_second=choices["ramp"],
        processes=choices["processes"] or processors,
        hosts=hosts,
        from_host=from_host,
        keep_files=choices["keep_files"] or choices["reuse_files"] is not None,
    )


def targets_of(urls: Sequence[str]) -> list[Target]:
    """Raises UsageError for one that is no folder on a share."""
    targets = [parse_target(url) for url in urls]
    for target in targets:
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")
    return targets


def with_user_of_first(first: Target, others: Sequence[Target]) -> tuple[Target, ...]:
    """All targets, with the first one's user unless they name their own."""
    targets = [first]
    for target in others:
        targets.append(replace(target, user=target.user or first.user, domain=target.domain or first.domain))
    return tuple(targets)


def new_request(
    targets: tuple[Target, ...],
    secrets: Secrets,
    scenario: records.Scenario,
    load_choices: records.LoadChoices,
    spec: SeriesSpec,
    choices: Mapping[str, Any],
) -> LoadRequest:
    """Raises UsageError for settings of SMB where a target is none."""
    for target in targets:
        check_smb_settings(spec.settings, target.abilities)
    return LoadRequest(
        targets=targets,
        secrets=secrets,
        settings=spec.settings,
        scenario=scenario,
        choices=load_choices,
        label=choices["label"],
        question=spec.texts.question,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        link_bits_per_second=spec.link_bits_per_second,
        reuse_folder=choices["reuse_files"],
    )


def request_to_resume(load: records.Load, secrets: Secrets, spec: SeriesSpec) -> LoadRequest:
    """The request that completes a stored load."""
    return LoadRequest(
        secrets=secrets,
        targets=load.targets,
        scenario=load.scenario,
        choices=load.choices,
        settings=spec.settings,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
    )
