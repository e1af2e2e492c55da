"""SMB: smbclient-ng's session on our own connection, which moves the timed bytes faster."""
