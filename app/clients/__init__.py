"""The programs that move the bytes, one module a client."""
