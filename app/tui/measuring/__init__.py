"""The kinds of measurement on the screen: each a form to fill in, a run and a result."""
