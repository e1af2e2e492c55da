"""FTP: ftplib for the conversation, the bytes moved by ourselves."""
