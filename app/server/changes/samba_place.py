"""Finds where on its server a parameter of Samba is to be changed: in a file, or in Samba's registry.

`samba_plans` makes the shell text that changes it there. In a file means: in our own file (``sharebench.conf``, the
drop-in) beside smb.conf, which smb.conf includes as its last line, so that what it sets counts.
"""

import re
from dataclasses import dataclass

from app.server import testparm
from app.server.changes import script
from app.server.changes.script import ChangeFailedError, ChangeRefusedError
from app.server.changes.smbd_restart import Restart
from app.server.conf_warnings import loadable_modules
from app.server.probe import ask_server, has_port
from app.server.samba import configuration_files
from forms.tuning import smb_conf
from forms.tuning.conf_file import read_conf
from forms.tuning.smb_conf import parameter_key
from forms.tuning.trial_rules import SambaKnows
from storage.changes import ChangeKind

DROP_IN = "sharebench.conf"
"""Our file in the folder of smb.conf; it holds the value that is tried."""
UNDO = "sharebench-undo.sh"
"""The undo script, in the same folder."""
LOG_LEVEL = "log level"
"""testparm tells its own, so smbd is asked for the one that is in effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfLine:
    """A line of our file, below the head of its section; ``name`` is as the newest Samba spells it."""

    section: str
    """Without brackets."""
    name: str
    value: str

    def text(self, samba: SambaKnows) -> str:
        """As that Samba reads it."""
        return f"[{self.section}]\n    {samba.own_name(self.name)} = {self.value}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SambaPlace:
    """Where a parameter is to be changed, and what is known of its server before."""

    ssh: str | None
    """The way to the server, ``[USER@]HOST``; None for this machine."""
    conf: str
    """The path of smb.conf on the server."""
    name: str
    """The parameter's, as the newest Samba spells it."""
    section: str
    """Without brackets: ``global`` or the share's name."""
    kind: ChangeKind
    """``SMB_CONF`` where it is changed in our file, ``REGISTRY`` where in Samba's registry."""
    knows: SambaKnows
    """The server's own lists of parameters, modules and shares."""
    state: script.ServerState
    """The files before any change: smb.conf and ours."""
    complaints: frozenset[str]
    """What testparm warned of before; only new warnings are about a value that is tried."""
    kept_lines: tuple[ConfLine, ...] = ()
    """What an earlier trial of a tuning found faster: it stands in our file beside each value."""
    restart: Restart | None = None
    """How smbd is restarted after each value; None where it is enough that smbd reads its file again."""

    @property
    def own_name(self) -> str:
        """The parameter's, as the server's Samba spells it."""
        return self.knows.own_name(self.name)

    @property
    def folder(self) -> str:
        return self.conf.rpartition("/")[0]

    @property
    def drop_in(self) -> str:
        """The path of our file."""
        return f"{self.folder}/{DROP_IN}"


def find_place(name: str, share: str, ssh: str | None, smb_conf_path: str | None, port: int = 445) -> SambaPlace:
    """Ask the server where ``name`` is to be changed; nothing is written.

    ``port`` is the smbd's, ``smb_conf_path`` None for the file that it runs with. Raises ChangeFailedError where the
    server does not answer, ChangeRefusedError where nothing may be changed there.
    """
    answer = ask_server({"samba": "yes", "conf": smb_conf_path or "", "port": str(port), "share": share}, ssh)
    if answer.problem:
        raise ChangeFailedError(f"the server cannot be changed: {answer.problem}")
    conf = answer.stripped("conf")
    if not conf or f"conf:{conf}" not in answer.sections:
        raise ChangeRefusedError(
            "no smb.conf that can be read was found on the server: name it yourself", options="--smb-conf FILE"
        )

    folder = conf.rpartition("/")[0]
    tools = ("testparm", "smbcontrol", "mktemp")
    state = script.server_state(ssh, undo=f"{folder}/{UNDO}", conf=conf, dropin=f"{folder}/{DROP_IN}", tools=tools)
    complaints = testparm.warnings(answer.text("testparm.err"))
    if answer.code("testparm") != 0:
        raise ChangeRefusedError(f"{conf} does not load as it stands ({'; '.join(complaints[-2:])}): mend that first")

    dump = testparm.parse_dump(answer.text("testparm"))
    # What the user names is taken for the server's; a file that was found here may be that of another smbd.
    is_named = ssh or smb_conf_path
    if not is_named and not has_port(dump.get("global", {}).get("smb ports"), port):
        raise ChangeRefusedError(
            f"which smb.conf the server on port {port} of this machine has is unknown: name the file",
            options="--smb-conf FILE",
        )

    scopes = testparm.parse_scopes(answer.text("scopes")) or testparm.Scopes()
    spelled = smb_conf.spelling(name)
    section = _section_of(spelled, share, scopes)
    place = SambaPlace(
        ssh=ssh,
        conf=conf,
        name=spelled.name,
        section=section,
        kind=_change_kind(configuration_files(answer), conf, section),
        knows=SambaKnows(
            modules=frozenset(loadable_modules(answer)),
            sections=frozenset(dump),
            for_server=scopes.for_server,
            for_share=scopes.for_share,
        ),
        state=state,
        complaints=frozenset(complaints),
    )
    _check_files(place)

    writable_paths = (answer.text("writable") or "").splitlines()
    if writable_paths:
        raise ChangeRefusedError(writable_text(writable_paths[0]) + "; nothing was written")
    return place


def _section_of(spelled: smb_conf.Spelling, share: str, scopes: testparm.Scopes) -> str:
    """[global] for what holds for the whole server, and for what is no parameter of Samba; else the share's section."""
    server_keys = {parameter_key(parameter) for parameter in scopes.for_server}
    is_of_server = parameter_key(spelled.name) in server_keys
    return "global" if is_of_server or spelled.parameter is None else share


def writable_text(path: str) -> str:
    """What is wrong with a file of Samba that everybody may write to, and what to do."""
    return (
        f"every user of the server may write to {path}, and so become root by what smbd reads there: remove that right"
        f" (chmod o-w {path}) and look at what it says"
    )


def _change_kind(files: dict[str, str], conf: str, section: str) -> ChangeKind:
    """The registry if smb.conf delegates to it, or if only the registry has the share."""
    without_registry = read_conf(conf, {path: text for path, text in files.items() if path != "registry"})
    is_delegated = any(map(_delegates_to_registry, files[conf].splitlines()))

    # Where both are read, [global] can be set in the files too, and so can a share that these have.
    is_share = section != "global"
    is_in_files = any(setting.section == section.lower() for setting in without_registry.settings)
    has_share_in_registry_alone = is_share and without_registry.uses_registry and not is_in_files
    if is_delegated or has_share_in_registry_alone:
        return ChangeKind.REGISTRY
    return ChangeKind.SMB_CONF


def _delegates_to_registry(line: str) -> bool:
    """Whether a line of smb.conf says that all settings are in the registry (``config backend = registry``)."""
    name, _, value = line.partition("=")
    return parameter_key(name) == "configbackend" and value.strip().lower() == "registry"


def _check_files(place: SambaPlace) -> None:
    """Raises ChangeRefusedError where smb.conf or our file could not be replaced, or restored, without harm."""
    conf = place.state.files[place.conf]
    if conf.content is None:
        raise ChangeRefusedError(f"{place.conf} is no file: name the server's smb.conf", options="--smb-conf FILE")
    if re.search(r"\s\s", place.drop_in):
        raise ChangeRefusedError(
            f"{place.conf}: Samba includes no file whose path has several blanks in a row: rename the folder; nothing"
            " was written"
        )

    drop_in = place.state.files[place.drop_in]
    if drop_in.owner not in {0, conf.owner}:
        raise ChangeRefusedError(
            f"{drop_in.path} belongs to another user than {conf.path}, which would include it: remove it;"
            " nothing was written"
        )
    for file in place.state.files.values():
        if file.links > 1:
            raise ChangeRefusedError(
                f"{file.path} has {file.links} hard links, so replacing it would part them: make it a file of its"
                " own; nothing was written"
            )
