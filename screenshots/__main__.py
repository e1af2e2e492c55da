"""``python -m screenshots [NAME…]``: draws the pictures again, all or those that are named."""

import asyncio
import sys

from screenshots.drawing import FOLDER, MADE_WITH, draw, libraries
from screenshots.scenes import SCENES


def main() -> int:
    """Draw, and say which pictures have changed."""
    wanted = set(sys.argv[1:])
    unknown = wanted - {scene.name for scene in SCENES}
    if unknown:
        print(f"no such scene: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    for scene in SCENES:
        if wanted and scene.name not in wanted:
            continue
        path = FOLDER / f"{scene.name}.svg"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        drawn = asyncio.run(draw(scene))
        path.write_text(drawn, encoding="utf-8")
        print(f"{path.name}: {'unchanged' if drawn == before else 'changed' if before else 'new'}")
    if not wanted:
        MADE_WITH.write_text(libraries(), encoding="utf-8")
        for stale in {path.stem for path in FOLDER.glob("*.svg")} - {scene.name for scene in SCENES}:
            (FOLDER / f"{stale}.svg").unlink()
            print(f"{stale}.svg: removed")
    return 0


sys.exit(main())
