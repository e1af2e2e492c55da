"""Values that a document of a load may leave out; each raises DocumentError for one that is there and wrong."""

from storage.json_reader import JSONNode


def text_or_none(node: JSONNode) -> str | None:
    """The text here, or None."""
    return None if node.value is None else node.text()


def number_or_none(node: JSONNode) -> float | None:
    """The finite number here, or None."""
    return None if node.value is None else node.number()


def whole_or_none(node: JSONNode) -> int | None:
    """The whole number above 0 here, or None."""
    return None if node.value is None else node.whole(at_least=1)


def whole_or(node: JSONNode, otherwise: int, *, at_most: int) -> int:
    """The whole number from 0 to ``at_most`` here, or another one where there is nothing."""
    found = otherwise if node.value is None else node.whole(at_least=0)
    if found > at_most:
        raise node.wrong(f"a whole number of at most {at_most}")
    return found


def between(node: JSONNode, above: float, at_most: float) -> float | None:
    """The number above the one and not above the other here, or None."""
    found = number_or_none(node)
    if found is not None and not above < found <= at_most:
        raise node.wrong(f"a number above {above:g}, at most {at_most:g}")
    return found


def flag_or_no(node: JSONNode) -> bool:
    """The true or false here; false where there is nothing."""
    return node.value is not None and node.flag()
