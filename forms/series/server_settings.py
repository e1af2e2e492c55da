"""What a form says of the settings that were read of the server."""

from forms import wording
from forms.findings import rules_server
from forms.tuning import fact_names
from forms.tuning.differences import parameter_of
from forms.tuning.values_in_effect import values_that_matter
from storage import records


def server_settings_text(facts: records.Facts) -> str:
    """How many settings of the server were read, and which of those that matter are not at their defaults."""
    parameters = {parameter for fact in facts if (parameter := parameter_of(fact)) is not None}
    if not parameters:
        return ""

    text = f"{len(parameters)} read"
    set_count = len(parameters & {*fact_names.lines_of_fact(facts, fact_names.CONF_SET)})
    if set_count:
        text += f", {set_count} of them set in smb.conf"
    values = values_that_matter(facts)
    changed = [f"{setting.entry.parameter} = {setting.value}" for setting in values if not setting.is_default]
    if changed:
        text += f"; not default: {'; '.join(changed)}"
    elif values and not rules_server.harmful_in({"server": facts}):
        # Those that matter are not all: beside a harmful one, which the findings name, this would say that all is well.
        text += f"; of those that matter, all {len(values)} are at their defaults"
    return wording.plain(text)
