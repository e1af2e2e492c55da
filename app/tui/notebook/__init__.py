"""The notebook's screens: the list of all series, one series, two compared."""
