"""The guide without a screen: its state, its pages, and what they do outside; a screen or plain questions show it."""
