"""The guide without a screen: choices, steps, what is known, and what it does outside."""
