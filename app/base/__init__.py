"""What every other package stands on: errors, targets, units, settings, processes."""
