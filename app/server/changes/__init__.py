"""Changes settings of a server: plan, record, apply, verify, restore."""
