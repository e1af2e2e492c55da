"""What a quick test may leave on a server that other tests use too."""

from pathlib import Path

from app.base.own_names import PREFIX
from tests.servers.smbd import Smbd


def left_on(smbd: Smbd) -> list[Path]:
    return [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]
