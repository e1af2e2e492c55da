"""Looks around on a target before anything is measured: its shares, folders and files, and how well each file suits.

The guide and the browser of a form show it, and the user chooses a file, or to have one made.
"""

import posixpath
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum

from app.base.errors import NotAFileError
from app.base.targets import join
from app.clients.base import Client, DirectoryEntry
from forms import wording
from forms.series.file_size import FileFit, FileSizeContext
from forms.series.wording import suitability
from storage.records import Target

MakeClient = Callable[[Target], Client]


class ItemKind(StrEnum):
    UP = "up"
    SHARE = "share"
    FOLDER = "folder"
    FILE = "file"
    MADE = "made"
    """A file that is to be made."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line of what is browsed, to choose."""

    kind: ItemKind
    name: str
    path: str = ""
    """In the form of ``Target.path``; for a share its name."""
    size_bytes: int = 0
    size: str = ""
    """That size in words."""
    fit: FileFit | None = None
    """How well a file of that size can be measured; None for what is no file."""

    @property
    def suits(self) -> str:
        """How well the file suits, as a sign and a word; empty where nobody knows, and for what is no file."""
        return f"{self.fit.sign} {self.fit}" if self.fit and self.fit is not FileFit.UNKNOWN else ""


MAKE_HERE = Item(ItemKind.MADE, "[ create a test file in this folder, to get or to put ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedFolder:
    """What there is to be seen at one target: its shares, or the names in its folder."""

    target: Target
    items: tuple[Item, ...]
    file: Item | None = None
    """Where the target is a file: that one, which needs no choice."""

    @property
    def is_chosen(self) -> bool:
        """Whether there is nothing to choose: a file is named, or the protocol moves none."""
        return self.file is not None or not self.target.abilities.moves_files

    @property
    def is_share_list(self) -> bool:
        return self.target.abilities.has_share and not self.target.share

    @property
    def shares(self) -> tuple[Target, ...]:
        """The shares that are listed; those that are hidden (``$``) are left out."""
        if not self.is_share_list:
            return ()
        names = [item.name for item in self.items if item.kind is ItemKind.SHARE and not item.name.endswith("$")]
        return tuple(replace(self.target, share=name, path="") for name in names)

    @property
    def choices(self) -> tuple[Item, ...]:
        return self.items if self.is_share_list else (MAKE_HERE, *self.items)


def look(target: Target, make_client: MakeClient, context: FileSizeContext) -> BrowsedFolder:
    """Log in and list what the target names; a file named by it is found in its folder. Raises MeasurementError.

    ``context`` is what tells how well a file of some size suits, such as the speed of the link; so it is below.
    """
    with closing(make_client(target)) as client:
        client.connect()
        if not target.abilities.moves_files:
            return BrowsedFolder(target=target, items=())
        if target.abilities.has_share and not target.share:
            shares = sorted(client.shares(), key=str.casefold)
            return BrowsedFolder(target=target, items=tuple(Item(ItemKind.SHARE, name, name) for name in shares))
        named_file = _named_file(client, target, context)
        if named_file is not None:
            target = replace(target, path=parent(target))
        return BrowsedFolder(target=target, items=items(target, client.list(target.path), context), file=named_file)


def _named_file(client: Client, target: Target, context: FileSizeContext) -> Item | None:
    """The file that the target names; None where it names a folder."""
    if not target.path.strip("/"):
        return None
    try:
        size = client.size(target.path)
    except NotAFileError:
        return None
    return _file(posixpath.basename(target.path), target.path, size, context)


def items(target: Target, entries: Sequence[DirectoryEntry], context: FileSizeContext) -> tuple[Item, ...]:
    """The lines of a folder: the way up, the folders, the files."""
    # Above the top folder of a share is the list of shares; above that of an FTP server or a disk is nothing.
    has_parent = target.abilities.has_share or target.path.strip("/")
    up = [Item(ItemKind.UP, "..", parent(target))] if has_parent else []
    ordered = sorted(entries, key=lambda entry: (not entry.is_folder, entry.name.casefold(), entry.name))
    below = (
        Item(ItemKind.FOLDER, entry.name, join(target, entry.name))
        if entry.is_folder
        else _file(entry.name, join(target, entry.name), entry.size_bytes, context)
        for entry in ordered
    )
    return (*up, *below)


def _file(name: str, path: str, size_bytes: int, context: FileSizeContext) -> Item:
    fit = suitability(size_bytes, context).word
    return Item(ItemKind.FILE, name, path, size_bytes, wording.file_size(size_bytes), fit)


def parent(target: Target) -> str:
    """The path of the folder above, in the form of ``Target.path``."""
    above = target.path.rstrip("/").rpartition("/")[0]
    return above if target.abilities.has_share else above or "/"


def inside(target: Target, item: Item) -> Target:
    """The target that a chosen line leads to."""
    if item.kind is ItemKind.SHARE:
        return replace(target, share=item.path, path="")
    is_top_of_share = target.abilities.has_share and not target.path.strip("/")
    if item.kind is ItemKind.UP and is_top_of_share:
        return replace(target, share=None, path="")  # to the list of shares
    return replace(target, path=item.path)
