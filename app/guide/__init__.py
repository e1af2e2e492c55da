"""The method as a state machine without a screen: which step is open, what it needs, what it advises."""
