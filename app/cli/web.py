"""The web server behind ``sharebench serve``: textual-serve, for this machine and the holder of the key alone."""

import hmac
import secrets
import shlex
import socket
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

from app.children import own_environment

_CONTENT = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; font-src 'self';"
    " img-src 'self' data:; connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}"
)
"""What the page may load: its own files and its own connection, nothing from elsewhere."""


class TUIServer(Server):
    """textual-serve with a page that fetches nothing from elsewhere, and a key.

    A page of any other site could open a connection to a server on the loopback, and so could any other user of this
    machine: so a request needs the key of the address (kept in a cookie), the right host, and no foreign origin.
    """

    def __init__(self, command: Sequence[str], port: int) -> None:
        """``command`` is the program behind each page, ``port`` the one listened on."""
        super().__init__(
            # a shell runs it; by exec the process behind a page is a child of this one, and ends with it
            f"PYTHONPATH={shlex.quote(own_environment()['PYTHONPATH'])} exec {shlex.join(command)}",
            host="127.0.0.1",
            port=port,
            title="sharebench",
            templates_path=Path(__file__).parent / "page",
        )
        self.key = secrets.token_urlsafe(18)
        self.cookie = f"sharebench-{port}"

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"{self.public_url}/?key={self.key}"

    async def application(self) -> web.Application:
        """The web application, that asks for the key."""
        made = await self._make_app()
        made.middlewares.append(self._door())
        return made

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the command has printed the address."""

    def _door(self) -> Middleware:
        hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

        @web.middleware
        async def check_key(request: web.Request, handler: Handler) -> web.StreamResponse:
            origin = request.headers.get("Origin")
            if request.host not in hosts or (origin is not None and origin.removeprefix("http://") not in hosts):
                raise web.HTTPForbidden(text="This server is for pages of its own.\n")
            given = request.query.get("key") or request.cookies.get(self.cookie, "")
            if not hmac.compare_digest(given.encode(), self.key.encode()):
                raise web.HTTPForbidden(text="Open the address that sharebench serve printed: it carries the key.\n")
            response = await handler(request)
            if not response.prepared:
                response.set_cookie(self.cookie, self.key, httponly=True, samesite="Strict")
                response.headers["Content-Security-Policy"] = _CONTENT.format(port=self.port)
                response.headers["Referrer-Policy"] = "no-referrer"
                response.headers["Cache-Control"] = "no-store"
            return response

        return check_key


def run(server: TUIServer, listening: socket.socket) -> None:
    """Serve until the program is told to end."""
    web.run_app(server.application(), sock=listening, print=None, access_log=None)
