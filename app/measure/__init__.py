"""The measurement engine, its plan and events, and its child process."""
