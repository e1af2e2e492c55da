"""The measured server and this machine: facts, samples, quiet time; a server is reached here or through ssh."""
