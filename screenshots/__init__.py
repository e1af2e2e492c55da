"""Pictures of the TUI: scenes of the real app on fixed data, drawn as SVG; the same scenes are the snapshot tests."""
