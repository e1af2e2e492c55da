"""An audit of one smb.conf, without its server."""

from pathlib import Path

from app.audit import configuration_files, samba_version
from app.audit.audit_result import AuditResult, audit_of
from forms.audit import testparm_dump
from forms.audit.audited_server import AuditedServer
from forms.tuning import conf_file, unread_wording
from storage import looks


def audit_file(file_name: str, told_version: str = "") -> AuditResult:
    """Audit a local smb.conf or ``testparm`` output, for a version of Samba such as ``4.22`` if that is known.

    Raises UsageError if the file cannot be read.
    """
    path = str(Path(file_name))
    files = {path: configuration_files.read_configuration(Path(path))}
    unread = configuration_files.read_includes(path, files)
    conf = conf_file.read_conf(path, files)
    unread += unread_wording.texts_of_copy(conf, configuration_files.files_per_client(conf, files))
    if testparm_dump.is_dump(conf.settings):
        unread.append(unread_wording.LOG_LEVEL_OF_DUMP)
    modes = {name: Path(name).stat().st_mode & 0o7777 for name in files}
    facts = samba_version.facts_of_file(conf, told_version)
    server = AuditedServer(conf=conf, path=path, is_copy=True, modes=modes, facts=facts)
    return AuditResult(audit=audit_of(path, looks.AuditScope.FILE, server, unread), files=files)
