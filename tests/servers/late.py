"""An smbd that opens small files late."""

import subprocess

from tests.servers.process import program
from tests.servers.smbd import Smbd

LATE_OPEN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int openat(int folder, const char *path, int flags, ...) {
    static int (*real)(int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if (!real) real = dlsym(RTLD_NEXT, "openat");
    if (strstr(path, "f000")) usleep(30000);
    return real(folder, path, flags, mode);
}
"""


class LateOpeningSmbd(Smbd):
    """An smbd whose opens of small files take 30 ms more."""

    def command(self) -> list[str]:
        library = self.root / "late.so"
        if not library.exists():
            source = self.root / "late.c"
            source.write_text(LATE_OPEN)
            subprocess.run([program("cc"), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        return [program("env"), f"LD_PRELOAD={library}", *super().command()]
