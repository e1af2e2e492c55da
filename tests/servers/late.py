"""What answers late: smbd in its opens, its reads or its listings, and a DNS server."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.process import program, require
from tests.servers.smbd import Smbd

_HEAD = """
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
"""
_LATE_OPEN = """
int openat(int folder, const char *path, int flags, ...) {
    static int (*real)(int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if (!real) real = dlsym(RTLD_NEXT, "openat");
    int file = real(folder, path, flags, mode);
    if (file >= 0 && strstr(path, "f000")) usleep(30000);
    return file;
}
"""
_SLOW_OPEN = """
int openat(int folder, const char *path, int flags, ...) {
    static int (*real)(int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if (!real) real = dlsym(RTLD_NEXT, "openat");
    usleep(5000);
    return real(folder, path, flags, mode);
}
"""
_LATE_READ = """
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
ssize_t pread(int file, void *to, size_t size, off_t from) {
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pread");
    if (size >= 65536) {
        pthread_mutex_lock(&one);
        usleep(size * 1e6 / %(bytes_per_second)g);
        pthread_mutex_unlock(&one);
    }
    return real(file, to, size, from);
}
"""
_LATE_LISTING = """
static double began;
static long entries;
static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}
DIR *fdopendir(int file) {
    static DIR *(*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdopendir");
    began = now();
    entries = 0;
    return real(file);
}
struct dirent *readdir(DIR *folder) {
    static struct dirent *(*real)(DIR *);
    if (!real) real = dlsym(RTLD_NEXT, "readdir");
    struct dirent *found = real(folder);
    entries += found != NULL;
    double rest = began + %(seconds)g * pow(entries / %(at)g, %(exponent)g) - now();
    if (rest > 0 && (!found || rest > 0.002)) usleep(rest * 1e6);
    return found;
}
"""


class _PreloadedSmbd(Smbd):
    """An smbd with some functions of C of its own."""

    late = ""

    def command(self) -> list[str]:
        require("cc")
        library = self.root / "late.so"
        if not library.exists():
            source = self.root / "late.c"
            source.write_text(_HEAD + self.late)
            subprocess.run([program("cc"), "-shared", "-fPIC", "-o", library, source, "-ldl", "-lm"], check=True)
        return [program("env"), f"LD_PRELOAD={library}", *super().command()]


class LateOpeningSmbd(_PreloadedSmbd):
    """An smbd whose opens of small files take 30 ms more.

    Its looks for a file that is not there do not: a new one needs several, and saving would be slower than reading.
    """

    late = _LATE_OPEN


class SlowOpeningSmbd(_PreloadedSmbd):
    """An smbd each of whose opens takes 5 ms more."""

    late = _SLOW_OPEN


class LateReadingSmbd(_PreloadedSmbd):
    """An smbd of which each process, and so each connection, reads 16 MB/s."""

    late = _LATE_READ % {"bytes_per_second": 16e6}


class LateListingSmbd(_PreloadedSmbd):
    """An smbd in which a folder of 200 entries takes 0.25 s to list, and others as ``exponent`` says."""

    def __init__(self, exponent: float) -> None:
        super().__init__(share_options={"case sensitive": "yes"})  # or each missing name were a listing
        self.late = _LATE_LISTING % {"seconds": 0.25, "at": 200, "exponent": exponent}


NAME = "files.example"
"""A name that a late resolver answers with the loopback."""


@contextmanager
def late_resolver(seconds: float, folder: Path) -> Iterator[tuple[str, ...]]:
    """What a command begins with whose DNS server answers late: for IPv4 with the loopback, for others with nothing."""
    require("unshare", "mount")
    address = f"127.{os.getpid() >> 16 & 0x7F}.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF}"
    files = {"resolv.conf": f"nameserver {address}\noptions timeout:20 attempts:1\n", "nsswitch.conf": "hosts: dns\n"}
    for name, text in files.items():
        (folder / name).write_text(text)
    mounts = " && ".join(f"mount --bind {folder}/{name} /etc/{name}" for name in files)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, 53))

        def reply(question: bytes, where: Any) -> None:
            end = question.index(b"\0", 12) + 5
            (kind,) = struct.unpack_from(">H", question, end - 4)
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton("127.0.0.1")
            known = kind == 1
            head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, int(known), 0, 0)
            server.sendto(head + question[12:end] + (answer if known else b""), where)

        def serve() -> None:
            while True:
                try:
                    question, where = server.recvfrom(4096)
                except OSError:
                    return
                threading.Timer(seconds, reply, (question, where)).start()

        threading.Thread(target=serve, daemon=True).start()
        yield (program("unshare"), "--mount", "sh", "-c", f'{mounts} && exec "$0" "$@"')
