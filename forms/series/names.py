"""What people call series that stand beside one another, so that no two have one name.

A name that a person gave comes first: a baseline's, then a label or title. A series without one is called by what was
moved from where. Where that leaves several with one name, each says what tells it apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forms import wording
from storage.records import Series, to_minute, to_second

NO_NAMES: Mapping[str, str] = MappingProxyType({})


def names_beside(all_series: Sequence[Series], given: Mapping[str, str] = NO_NAMES) -> dict[str, str]:
    """The name of each series, by its id; ``given`` are the names of baselines, by the ids of their series."""
    servers = {(series.target.protocol, series.target.host, series.target.port) for series in all_series}
    share_server = len(all_series) > 1 and len(servers) == 1
    own_name_of = wording.name_on_server if share_server else wording.name_of

    namesakes: dict[str, list[Series]] = {}
    for series in all_series:
        name = wording.plain(given.get(series.id, "")) or own_name_of(series)
        namesakes.setdefault(name, []).append(series)

    names: dict[str, str] = {}
    for name, series_of_name in namesakes.items():
        names |= told_apart(name, series_of_name)
    return {series.id: names[series.id] for series in all_series}


def told_apart(name: str, namesakes: Sequence[Series]) -> dict[str, str]:
    """The name for each of the series that share it, by id: with its protocol, direction or host, else its time."""
    if len(namesakes) == 1:
        return {namesakes[0].id: name}

    for text_of in _TELLING_TEXTS:
        texts = {series.id: wording.plain(text_of(series)) for series in namesakes}
        if len(set(texts.values())) == len(namesakes):
            return {series_id: f"{name} ({text})" for series_id, text in texts.items()}
    return _told_apart_by_time(name, namesakes)


def _protocol(series: Series) -> str:
    return series.target.protocol.upper()


def _command(series: Series) -> str:
    return str(series.command)


def _host(series: Series) -> str:
    return series.target.host or "local"


def _host_and_command(series: Series) -> str:
    return f"{_host(series)} {series.command}"


_TELLING_TEXTS = (_protocol, _command, _host, _host_and_command)


def _told_apart_by_time(name: str, namesakes: Sequence[Series]) -> dict[str, str]:
    """With the time, of one day without the day; to the second where several began in one minute.

    The id tells apart what began in one second, such as copies.
    """
    minutes = {series.id: to_minute(series.created_at) for series in namesakes}
    series_in_minute = Counter(minutes.values())
    series_in_second = Counter(to_second(series.created_at) for series in namesakes)
    is_one_day = len({minute[:10] for minute in minutes.values()}) == 1

    apart = {}
    for series in namesakes:
        second = to_second(series.created_at)
        time = minutes[series.id] if series_in_minute[minutes[series.id]] == 1 else second
        shown_time = time[11:] if is_one_day else time
        if series_in_second[second] > 1:
            shown_time = series.id
        apart[series.id] = f"{name} ({shown_time})"
    return apart
