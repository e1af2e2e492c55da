"""The worksheets' screens: they calculate anew with every key."""
