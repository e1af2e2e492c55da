"""What a load looks at beside its users: the server, the queue of a printer, and the path."""
