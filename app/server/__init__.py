"""The server that is measured, reached as an administrator: on this machine, or through the system's ssh."""
