"""What every recording rests on: the measuring process, the writer, what is rescued."""
