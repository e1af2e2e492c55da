"""Series: the runs of one plan, from what was asked for to what is stored."""
