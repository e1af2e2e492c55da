"""Another machine that measures for us: our program found there or carried there, and its processes started by ssh."""
