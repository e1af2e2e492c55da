"""What a release needs beside the program: the manual page, and the proof that it installs and runs anywhere."""
