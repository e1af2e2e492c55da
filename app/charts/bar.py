"""A progress bar of characters."""


def bar(percent: float | None, width: int) -> str:
    """Full and light blocks, ``width`` columns in all; dots where the share is unknown."""
    if percent is None:
        return "·" * width
    full = round(max(0.0, min(100.0, percent)) / 100 * width)
    return "█" * full + "░" * (width - full)
