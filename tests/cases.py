"""Many cases of one rule in one test, where hundreds take longer to collect than to run."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    argument: str, values: Iterable[Any], name: Callable[[Any], str] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with each of the values in turn; a failure names its value below the traceback."""
    cases = list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def in_turn(*args: Any, **fixtures: Any) -> None:
            assert cases, f"nothing to test: no {argument}"
            for value in cases:
                try:
                    test(*args, **fixtures, **{argument: value})
                except BaseException as error:
                    error.add_note(f"{argument}: {name(value)}")
                    raise

        signature = inspect.signature(test)
        others = [one for one in signature.parameters.values() if one.name != argument]
        in_turn.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        del in_turn.__wrapped__
        return in_turn

    return decorate
