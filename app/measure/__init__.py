"""The engine: what is planned, what happens, and the child process in which it does."""
