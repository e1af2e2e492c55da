"""The terminal's input, read so that no key waits: Textual's own thread looks at a lone Escape ten times a second."""

import errno
import os
import select
import signal
from codecs import getincrementaldecoder
from contextlib import suppress

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver

_LOOKS_FOR_THE_END = 0.1
"""Seconds."""


class Terminal(LinuxDriver):
    """Textual's driver, but that Escape waits ``ESCDELAY`` for what may follow it and no longer.

    With Textual's, the wait is a tenth of a second whatever ``ESCDELAY`` says (8.2: it selects for so long); and bytes
    that are no UTF-8 end the thread, after which no key has any effect. And a terminal that is closed ends the program.
    """

    def run_input_thread(self) -> None:
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        text = ""
        while not self.exit_event.is_set():
            seconds = ESCAPE_DELAY if text.endswith("\x1b") else _LOOKS_FOR_THE_END
            ready, _, _ = select.select([self.fileno], [], [], seconds)
            if ready:
                read = self._read()
                if not read:
                    # the terminal was closed; its signal went to the first process of the session alone, and where that
                    # is `make`, it waits for us
                    os.kill(os.getpid(), signal.SIGHUP)
                    break
                text = decode(read)
                # half a character is no text yet, and no text is what the parser takes for the end of all input
                for message in parser.feed(text) if text else ():
                    self.process_message(message)
            for message in parser.tick():
                self.process_message(message)
        with suppress(EOFError, ParseError):
            list(parser.feed(""))

    def _read(self) -> bytes:
        """The keys that wait; nothing once the terminal is gone."""
        try:
            return os.read(self.fileno, 4096)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""
