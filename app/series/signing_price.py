"""What signing costs on the way to this server, where an earlier diagnosis measured it."""

from forms.diagnosis.summary import price
from forms.tuning.fact_names import SIGNING_PRICE, SIGNING_PRICE_MEASURED_AT
from storage import looks
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.records import ClientFacts, Facts, Target

_MOST_LOOKED_AT = 20
"""Of the newest diagnoses: an older one says little of today."""


def price_of_signing(client: ClientFacts, server: Target, notebook: Notebook) -> Facts:
    """By their names, the price in percent of the rate and when it was measured; nothing for a protected session."""
    if not client.dialect or client.is_signed or client.is_encrypted:
        return {}

    for recording in notebook.recordings(looks.DIAGNOSIS, limit=_MOST_LOOKED_AT):
        try:
            diagnosis = looks.diagnosis_of(recording)
        except DamagedNotebookError:
            continue
        target = diagnosis.target
        if (target.host, target.port) != (server.host, server.port):
            continue
        stage = diagnosis.stage(looks.StageName.PROTECTION)
        cost = price(stage.of("plain_bytes_per_second"), stage.of("signed_bytes_per_second")) if stage else None
        if cost:
            percent, _ = cost
            return {SIGNING_PRICE: round(percent, 1), SIGNING_PRICE_MEASURED_AT: diagnosis.created_at}
    return {}
