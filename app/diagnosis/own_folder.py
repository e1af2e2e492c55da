"""What is done on the share of a diagnosis beside its stages: a look before, and removing our folder after all.

The program's own process does both; where another machine measures, that one looks.
"""

from app.base import own_names
from app.base.errors import SharebenchError
from app.clients import base, registry
from app.clients.file_tree import remove_all
from app.clients.working_folder import check_folder
from app.diagnosis.spec import DiagnosisRequest
from storage import looks, records
from storage.plan import Settings


def check_share(target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
    """Raises an error, with nothing recorded, if the login fails, the folder is missing or the share is a printer."""
    with registry.connected_files(target, secrets, settings) as files:
        check_folder(files)


def reason_folder_is_left(request: DiagnosisRequest, diagnosis: looks.Diagnosis, removal_problem: str) -> str:
    """Why our folder is still on the share; empty where it is gone, or was never made."""
    if diagnosis.leftover is None or not removal_problem:
        return ""
    # The measuring process could not remove it, or died before: another login may do.
    return remove_after_all(request, diagnosis.leftover)


def remove_after_all(request: DiagnosisRequest, folder: str) -> str:
    """Remove our folder where the process could not; returns why it is still there, or empty."""
    if not own_names.is_tree_folder(folder.rpartition("/")[2]):
        return ""
    try:
        with registry.connected_files(request.target, request.secrets, request.settings) as files:
            remove_all(files, folder)
    except SharebenchError as error:
        place = records.format_target(request.target)
        return f"{folder} may still be on the share ({error}): `sharebench clean {place}` removes it"
    return ""
