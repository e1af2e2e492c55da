"""SMB: smbclient-ng's session on a connection of our own, which moves the timed bytes faster."""
