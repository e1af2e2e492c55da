"""What every screen stands on: the application, commands, keys, dialogs, themes."""
