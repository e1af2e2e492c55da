"""plotext, loaded without its documentation, which it would write anew at every start in half of its loading time."""

import sys
import threading
from types import ModuleType
from typing import Any

_DOCUMENTATION = "plotext._doc.doc"
"""The module that writes it when it is imported, which plotext does last."""

_loading_lock = threading.Lock()


def load_plotext() -> Any:
    with _loading_lock:
        if "plotext" not in sys.modules:
            stand_in = ModuleType(_DOCUMENTATION)
            stand_in.docs = None  # type: ignore[attr-defined]
            sys.modules[_DOCUMENTATION] = stand_in

        import plotext

        return plotext
