"""Bases that cannot be measured again though nothing that was recorded says so, such as behind a switch now replaced.

The guide asks once; the notebook remembers the answer for every comparison with them.
"""

from collections.abc import Iterable

from storage.notebook import Notebook

_MEMORY_KEY = "bases that are gone"


def gone_base_ids(notebook: Notebook) -> frozenset[str]:
    """The ids of the series that the user said cannot be measured again."""
    ids = (notebook.remembered(_MEMORY_KEY) or {}).get("ids")
    return frozenset(map(str, ids)) if isinstance(ids, list) else frozenset()


def remember_gone(notebook: Notebook, ids: Iterable[str]) -> None:
    all_ids = sorted(gone_base_ids(notebook) | set(ids))
    notebook.remember(_MEMORY_KEY, {"ids": [*all_ids]})
