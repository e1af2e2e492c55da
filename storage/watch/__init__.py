"""What a watch leaves in the notebook."""
