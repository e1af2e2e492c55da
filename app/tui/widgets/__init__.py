"""Widgets and screen parts that several screens use."""
