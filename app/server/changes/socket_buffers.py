"""Looks at the buffers of smbd's sockets, which show whether its socket options act."""

import re

from app.server.changes.script import ChangeFailedError, read_there


def buffers_in_effect(value: str, port: int, ssh: str | None) -> str | None:
    """Evidence that the socket options in ``value`` act on the open sessions at that port.

    None where they set no buffer, or no session can be seen. Raises ChangeFailedError where the buffers are others.
    """
    options = re.findall(r"(SO_(?:SND|RCV)BUF)=(\d+)", value, re.IGNORECASE)
    size_by_option = {option.upper(): int(size) for option, size in options}
    if not size_by_option:
        return None

    answer = read_there(f"section sockets\nss -tmnH state established '( sport = :{port} )' 2>/dev/null", ssh)

    # ss prints the memory of each socket as skmem:(r0,rb131072,t0,tb46080,…): rb and tb are the buffers' bytes.
    memories = re.findall(r"skmem:\(([^)]*)\)", answer.text("sockets") or "")
    sockets = [dict(re.findall(r"([tr]b)(\d+)", memory)) for memory in memories]
    if not sockets:
        return None

    evidence = []
    for option, size in size_by_option.items():
        key = "tb" if option == "SO_SNDBUF" else "rb"
        buffers = {int(socket[key]) for socket in sockets if key in socket}

        # The kernel doubles what is asked for; a buffer that is far larger is none that was asked for.
        is_too_small = all(buffer < size for buffer in buffers)
        is_too_large = all(buffer > 4 * size + 8192 for buffer in buffers)
        if is_too_small or is_too_large:
            raise ChangeFailedError(
                f"{option}={size} is in the configuration, but the buffers of new sessions are {sorted(buffers)} bytes:"
                " it does not act (net.core.wmem_max and rmem_max limit it)"
            )
        evidence.append(f"{option} of a new session {min(buffers)} bytes (the kernel doubles it)")
    return ", ".join(evidence)
