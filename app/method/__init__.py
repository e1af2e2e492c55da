"""The method: rounds of measuring with one change each, what they are set to, and what can come next."""
