"""The form of a load on the screen: the lines that say what is to be measured."""

import os
from collections.abc import Mapping, Sequence

from app.base.errors import UsageError
from app.load import scenario as load_scenario
from app.load import spec
from app.load.progress import time_text
from app.load.run_screen import LoadRunScreen
from app.server.named_servers import server_ways
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from forms import layout, wording
from storage.load import records
from storage.plan import MOST_SECONDS
from storage.records import JSONValue, Target


class LoadScreen(LinesScreen):
    """The form of a load; `LinesScreen` says which class attribute is for what, and when each method is called."""

    NAME = "load"
    HEADING = BUTTON = "Load"
    START = "Begin with what the lines say."
    STORED = "loads"
    LINES = (
        form_lines.TARGET,
        form_lines.FormLine("users", "Users", f"such as 10,20,40 or 10..200/10, or {spec.CAPACITY}", spec.USUAL_USERS),
        form_lines.FormLine(
            "scenario", "Scenario", f"{', '.join(load_scenario.NAMES)}, or a file", spec.USUAL_SCENARIO
        ),
        form_lines.FormLine("files", "Files", "how many; empty: as the scenario says"),
        form_lines.FormLine("duration", "Steady, s", "seconds that count, each point; empty: as the scenario says"),
        form_lines.FormLine("settle", "Settle, s", "seconds before they count; empty: as the scenario says"),
        form_lines.FormLine("ssh", "Server by ssh", "[USER@]HOST for its CPU and memory; empty: this machine or none"),
    )
    RUN = LoadRunScreen

    def __init__(self, target: str = "", ssh: str = "", users: str = "") -> None:
        values: dict[str, str] = {}
        if target:
            values["target"] = target
            values["ssh"] = ssh
        if users:
            values["users"] = users
        super().__init__(**values)

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        """What stands in the lines when the form opens: for a practice server a load that takes seconds."""
        if not practice:
            return super().first_values(remembered, practice)
        return super().first_values(None, practice) | {"files": "200", "duration": "10", "settle": "2"}

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        scenario, choices = cls._parse_work(typed)
        settle = wording.duration(scenario.settle_seconds)
        steady = wording.duration(scenario.duration_seconds)
        about = f"{scenario.name}: {layout.visible(scenario.about)}."
        return f"{about} {time_text(scenario, choices)} Each point: {settle} to settle, then {steady} that count."

    @staticmethod
    def _parse_work(typed: Mapping[str, str]) -> tuple[records.Scenario, records.LoadChoices]:
        """What the lines ask for but for the target: what each user does, and how many there are. Raises UsageError."""
        files = typed["files"]
        steady = typed["duration"]
        settle = typed["settle"]
        scenario = load_scenario.change_scenario(
            load_scenario.find_scenario(typed["scenario"] or spec.USUAL_SCENARIO),
            files=form_lines.typed_count("Files", files, records.MOST_FILES) if files else None,
            duration_seconds=_typed_seconds("Steady", steady, 1, records.MOST_STEADY_SECONDS),
            settle_seconds=_typed_seconds("Settle", settle, 0, MOST_SECONDS),
        )

        finds_capacity = typed["users"].lower() == spec.CAPACITY
        choices = records.LoadChoices(
            users=() if finds_capacity else load_scenario.parse_users(typed["users"] or spec.USUAL_USERS),
            find_capacity=finds_capacity,
            # A process of the load generator for each processor that this program may use.
            processes=len(os.sched_getaffinity(0)),
        )
        return scenario, choices

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.LoadRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        question = "which server? type [USER@]HOST/SHARE/FOLDER, or smb://USER@HOST/SHARE/FOLDER"
        target = form_lines.typed_target(values["target"], question)
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")

        scenario, choices = cls._parse_work(values)
        spec.check_limits(choices, (target,))
        ways = server_ways(target, values["ssh"])
        return spec.LoadRequest(
            targets=(target,),
            scenario=scenario,
            choices=choices,
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
        )


def _typed_seconds(name: str, text: str, least: float, most: float) -> float | None:
    """None for an empty line, where the scenario says it. Raises UsageError."""
    return form_lines.typed_number(name, text, least, most) if text else None
