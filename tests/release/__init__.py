"""What a release needs beside the program: the manual pages, and the proof that it installs and runs anywhere."""
