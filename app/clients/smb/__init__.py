"""SMB: smbclient-ng's session for everything but the timed bytes, which go a faster way."""
