"""Facts of a Samba server."""
