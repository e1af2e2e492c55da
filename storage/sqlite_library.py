"""sqlite-utils, loaded without numpy and pandas.

Where these are installed, sqlite-utils loads them to know the types of their numbers, of which no notebook has any.
That takes longer than to load sqlite-utils itself, and its user would pay it with every command.
"""

import sys

_UNUSED = ("numpy", "pandas")

# What stands as None among the loaded modules cannot be imported, as if it were not installed.
_hidden = [name for name in _UNUSED if name not in sys.modules]
for _name in _hidden:
    sys.modules[_name] = None  # type: ignore[assignment]

try:
    from sqlite_utils import Database, Migrations
finally:
    for _name in _hidden:
        del sys.modules[_name]

__all__ = ["Database", "Migrations"]
