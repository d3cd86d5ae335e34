"""A server that answers as a test says, and the agent in this process with time that does not pass."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from muster_report import request
from muster_report.report import report
from muster_report.settings import read_settings
from muster_report.token_source import token_source


class Seen(NamedTuple):
    """A request that arrived."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


Reaction = Callable[[BaseHTTPRequestHandler], None]


class Gateway:
    """Answers one request after the other with the reactions given; the last one answers all that follow."""

    def __init__(self, *reactions: Reaction, certificate: Path | None = None) -> None:
        self.seen: list[Seen] = []
        self.reactions = list(reactions)
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_PATCH(self) -> None:
                body = self.rfile.read(int(self.headers.get('content-length', '0')))
                headers = {name.lower(): value for name, value in self.headers.items()}
                gateway.seen.append(Seen(self.command, self.path, body, headers))
                reaction = gateway.reactions.pop(0) if len(gateway.reactions) > 1 else gateway.reactions[0]
                reaction(self)

            do_GET = do_PATCH

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.handle_error = lambda *_: None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f'127.0.0.1:{self._server.server_address[1]}'

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def answers(status: int, body: object = None, **headers: str) -> Reaction:
    """An answer; a body of bytes is sent as it is, all others as JSON."""

    def react(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace('_', '-'), value)
        handler.send_header('Content-Length', str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return react


def cuts(handler: BaseHTTPRequestHandler) -> None:
    """Takes the report and goes away without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)


KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5wYVYsS8AzGWjdSuqRvnMOyTnF4XhBMtjU4SIXmJEf'
TAKEN = answers(200, {'id': 'x1', 'state': []})


class Told(NamedTuple):
    """What the agent did while it reported."""

    pauses: list[float]
    log: list[str]


def play(environ: dict[str, str], clock: Callable[[], float] = lambda: 0.0) -> Told:
    """Reports as the environment says until the report is taken; pauses are written down and not waited for."""
    told = Told([], [])

    def sleep(seconds: float) -> None:
        told.pauses.append(seconds)
        assert len(told.pauses) < 500, f'it does not end: {told.log[-3:]}'

    settings = read_settings({'NODE_IDENTITY': 'x1', 'MUSTER_REPORT_BOOT_ID_FILE': '/dev/null', **environ})
    take_token = token_source(settings, sleep, told.log.append)
    send = lambda body, token: request.send(settings, body, token)  # noqa: E731
    report(send, take_token, sleep, told.log.append, settings.boot, clock)
    return told


def make_certificate(directory: Path, name: str) -> Path:
    """A key and a certificate of its own for `name`, such as IP:127.0.0.1, in one file."""
    file = directory / 'certificate.pem'
    key = directory / 'key.pem'
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
        + ['-subj', '/CN=gateway', '-addext', f'subjectAltName={name}', '-keyout', str(key), '-out', str(file)],
        check=True,
        capture_output=True,
    )
    file.write_text(key.read_text() + file.read_text())
    return file
