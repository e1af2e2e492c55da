"""The server told from the machine under it: one script of operations, replayed against each layer."""
