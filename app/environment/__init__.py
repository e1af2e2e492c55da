"""Facts: this host, the link, quiet time, the server."""
