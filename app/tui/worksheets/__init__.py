"""The worksheets' screens: they calculate again with every key."""
