"""The TUI in a browser: it works, loads nothing from elsewhere, and lets nobody in without the key."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import psutil
import pytest
from click.testing import CliRunner

from app.children import own_command, own_environment
from app.cli.commands.serve import serve_command
from app.errors import SharebenchError
from tests.builders import book, one


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address that was printed, and the process; it stands in a folder with an ``app`` of its own."""
    trap = tmp_path / "project" / "app"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    path = book(tmp_path / "notebook.db", one(1, label="seen from afar"))
    command = own_command("app", "--db", str(path), "serve", "--port", "0")
    with subprocess.Popen(
        command, cwd=trap.parent, env=own_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
        process.kill()


async def status(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status


async def test_only_the_holder_of_the_key_on_this_machine_gets_in(served):
    address, _ = served
    bare = address.partition("?")[0]
    host = bare.removeprefix("http://").rstrip("/")
    assert host.startswith("127.0.0.1:")
    assert await status(address) == 200
    assert await status(bare) == 403
    assert await status(f"{bare}?key=guess") == 403
    assert await status(f"{bare}ws") == 403
    assert await status(f"{bare}static/js/textual.js") == 403
    assert await status(address, Host="evil.example") == 403
    assert await status(address, Origin="http://evil.example") == 403
    assert await status(address, Origin=f"http://{host}") == 200


async def test_the_page_fetches_nothing_from_elsewhere(served):
    address, _ = served
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        page = await answer.text()
        policy = answer.headers["Content-Security-Policy"]
    assert re.findall(r"""(?:src|href|url\()\s*=?\s*["'](?!/static/|data:)[^"']*""", page) == []
    assert "default-src 'none'" in policy
    assert "googleapis" not in page


async def test_the_tui_answers_to_keys_through_the_page(served):
    address, process = served
    bare = address.partition("?")[0]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.get(address) as answer:
            assert answer.status == 200
        async with session.ws_connect(f"{bare}ws?width=100&height=30", timeout=aiohttp.ClientWSTimeout()) as page:
            await seen(page, "seen from afar")
            await page.send_json(["stdin", "s"])
            await seen(page, "Sort by")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


async def test_nothing_of_the_current_folder_is_run_and_kill_9_ends_the_pages(served, tmp_path: Path):
    address, process = served
    bare = address.partition("?")[0]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.get(address) as answer:
            assert answer.status == 200
        async with session.ws_connect(f"{bare}ws?width=100&height=30", timeout=aiohttp.ClientWSTimeout()) as page:
            await seen(page, "seen from afar")
            behind = psutil.Process(process.pid).children(recursive=True)
            process.kill()
            _, alive = psutil.wait_procs(behind, timeout=30)
    assert behind
    assert not alive
    assert not (tmp_path / "executed").exists()


async def seen(page: aiohttp.ClientWebSocketResponse, text: str) -> None:
    """Read what the TUI draws until the text has come."""
    drawn = ""
    while text not in drawn:
        message = await page.receive(timeout=60)
        assert message.type in {aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT}, drawn[-500:]
        data = message.data if isinstance(message.data, str) else message.data.decode()
        drawn += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data)


def test_a_port_that_is_taken_is_told_with_what_to_do(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(
            serve_command, ["--port", str(taken.getsockname()[1])], obj={"db": os.fspath(tmp_path / "notebook.db")}
        )
    assert isinstance(result.exception, SharebenchError)
    assert "choose another port with --port" in str(result.exception)
