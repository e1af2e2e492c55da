"""SMB: smbclient-ng's session for everything but the timed bytes, which go a faster way."""

import sys

# With cffi pycryptodome parses C as it is imported, without it takes ctypes: a sixth of the start of each measurement.
sys.modules.setdefault("cffi", None)  # type: ignore[arg-type]
