"""What can be recorded, a module or folder for each subject."""
