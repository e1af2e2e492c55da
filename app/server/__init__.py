"""The measured server, reached as an administrator: on this machine, or through ssh."""
