"""The terminal's input: Textual's driver, mended where it loses keys, waits too long or outlives its terminal."""

import errno
import os
import select
import signal
from codecs import getincrementaldecoder
from contextlib import suppress
from pathlib import Path

import textual
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

PARSER_KNOWN_IN = "8.2."
"""Textual's versions whose private parser of input our driver is tested with; with others Textual's driver is used."""

_SECONDS_BETWEEN_LOOKS_FOR_THE_END = 0.1
_ESCAPE = "\x1b"
_BYTES_AT_ONCE = 4096


class Terminal(LinuxDriver):
    """Textual's driver (8.2), but Escape waits for ``ESCDELAY``, bad UTF-8 is harmless, a closed terminal ends it."""

    def run_input_thread(self) -> None:
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        text = ""

        while not self.exit_event.is_set():
            seconds = ESCAPE_DELAY if text.endswith(_ESCAPE) else _SECONDS_BETWEEN_LOOKS_FOR_THE_END
            ready, _, _ = select.select([self.fileno], [], [], seconds)

            if ready:
                typed_bytes = self._read_typed_bytes()
                if not typed_bytes:
                    # the terminal was closed; its signal went to the first process of the session alone, and where that
                    # is `make`, it waits for us
                    os.kill(os.getpid(), signal.SIGHUP)
                    break

                text = decode(typed_bytes)
                # half a character is no text yet, and no text is what the parser takes for the end of all input
                if text:
                    for message in parser.feed(text):
                        self.process_message(message)

            for message in parser.tick():
                self.process_message(message)

        with suppress(EOFError, ParseError):
            list(parser.feed(""))

    def _read_typed_bytes(self) -> bytes:
        """What was typed since; empty where the terminal was closed."""
        try:
            return os.read(self.fileno, _BYTES_AT_ONCE)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""


def textual_version() -> str:
    """Textual's version, off the folder that installers leave beside it; what Python has for it takes 8 ms to load."""
    installed_in = Path(textual.__file__).parents[1]
    for folder in installed_in.glob("textual-*.dist-info"):
        version = folder.name.removeprefix("textual-")
        if version[:1].isdigit():
            return version
    return ""


def driver_for(usual: type[Driver]) -> type[Driver]:
    """Our driver in place of Textual's for a terminal; its others (a browser, tests) as they are."""
    is_for_a_terminal = usual.__name__ == "LinuxDriver"
    if is_for_a_terminal and textual_version().startswith(PARSER_KNOWN_IN):
        return Terminal
    return usual
