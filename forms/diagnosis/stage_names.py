"""What the stages of a diagnosis are called."""

from storage import looks

STAGE_NAMES = {
    looks.StageName.SETTINGS: "the server's settings",
    looks.StageName.CONNECT: "the first connect",
    looks.StageName.DISTANCE: "the distance",
    looks.StageName.SMALL_FILES: "many small files",
    looks.StageName.WINDOW: "opening a window",
    looks.StageName.FOLDERS: "large folders",
    looks.StageName.PROTECTION: "signing and encryption",
    looks.StageName.LONG_RUN: "a long run",
    looks.StageName.CARDS: "several connections",
}


def stage_title(name: looks.StageName) -> str:
    """What stands above its figures."""
    text = STAGE_NAMES[name]
    return f"{text[:1].upper()}{text[1:]}"
