"""A small ingest port for the tests of the pod's steps: it stores as Muster does, and misbehaves as a test says."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = 'musterrun_pod-token-of-the-test'
Fault = Callable[[BaseHTTPRequestHandler], bool]
"""Answers a request in place of the server; False lets the server answer after all."""


class StoredRun:
    """What has arrived of one run."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.output = b''
        self.results: dict[str, Any] | None = None
        self.exit: dict[str, Any] | None = None
        self.exits = 0

    @property
    def position(self) -> dict[str, Any]:
        return {
            'state': 'ended' if self.exit else 'started',
            'lines': len(self.lines),
            'output_bytes': len(self.output),
        }


class Muster:
    """The server, with what a test lays in it and what it was told."""

    def __init__(self) -> None:
        self.token = TOKEN
        self.files: Any = {}
        self.orders: list[dict[str, Any]] = []
        self.teardown: dict[str, Any] = {'done': False}
        self.reports: list[tuple[str, dict[str, Any]]] = []
        self.runs: dict[str, StoredRun] = {}
        self.requests: list[tuple[str, str]] = []
        self.faults: list[tuple[str, Fault]] = []
        self.changed = threading.Condition()
        muster = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def handle_any(self) -> None:
                self.content = self.rfile.read(int(self.headers.get('content-length') or 0))
                muster._take(self)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}'
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def secure(self, certificate: Path, key: Path) -> None:
        """Speaks TLS from now on, at an address with the name `localhost`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f'https://localhost:{self._server.server_address[1]}'

    def order(self, **order: Any) -> None:
        """Gives the next order."""
        with self.changed:
            self.orders.append({'number': len(self.orders) + 1, **order})
            self.changed.notify_all()

    def finish(self, exit_code: int = 0) -> None:
        self.order(action='finish', exit_code=exit_code)

    def fault(self, path: str, *faults: Fault) -> None:
        """The next requests whose path has `path` in it are answered by these, one after the other."""
        self.faults += [(path, fault) for fault in faults]

    def states(self, step: str) -> list[str]:
        return [body['state'] for name, body in self.reports if name == step]

    def failure(self, step: str) -> dict[str, Any]:
        return next(body for name, body in self.reports if name == step and body['state'] == 'failed')

    def everything(self) -> str:
        """All that was sent here but for the headers."""
        runs = [[*run.lines, run.output.decode('utf-8', 'replace'), run.results, run.exit] for run in self.runs.values()]
        return json.dumps([self.reports, runs, [path for _, path in self.requests]])

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append((request.command, request.path))
        for number, (path, fault) in enumerate(self.faults):
            if path in request.path:
                del self.faults[number]
                if fault(request):
                    return
                break
        if request.headers.get('authorization') != f'Bearer {self.token}':
            return reply(request, 401, {'code': 'unauthenticated', 'title': 'Unauthorized', 'detail': 'not this one'})
        if request.headers.get('muster-runner-protocol') != '2':
            return reply(request, 400, {'code': 'runner_protocol_unsupported'})
        url = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = url.path.strip('/').split('/')
        with self.changed:
            if parts[0] == 'runs':
                status, body = self._run(request, parts[1], parts[2:], query)
            else:
                status, body = self._job(request, parts[2:], query)
            self.changed.notify_all()
        reply(request, status, body)

    def _job(self, request: Any, parts: list[str], query: dict[str, str]) -> tuple[int, Any]:
        if parts[0] == 'steps':
            self.reports.append((parts[1], json.loads(request.content)))
            return 204, None
        if parts[0] == 'inventory':
            return 200, {'files': self.files}
        end = time.monotonic() + float(query['wait'])
        while time.monotonic() < end:
            if parts[0] == 'teardown' and self.teardown['done']:
                break
            if parts[0] == 'next' and len(self.orders) > int(query['after']):
                return 200, self.orders[int(query['after'])]
            self.changed.wait(end - time.monotonic())
        return 200, self.teardown if parts[0] == 'teardown' else {'action': 'wait'}

    def _run(self, request: Any, run_id: str, parts: list[str], query: dict[str, str]) -> tuple[int, Any]:
        run = self.runs.setdefault(run_id, StoredRun())
        content: bytes = request.content
        if parts == ['events']:
            known = len(run.lines) - (int(query['first_line']) - 1)
            if known < 0:
                return 409, {'code': 'run_position', 'title': 'Not the next part'}
            assert content.endswith(b'\n')
            fresh = content.decode().split('\n')[:-1][known:]
            run.lines += fresh
        elif parts == ['output']:
            known = len(run.output) - int(query['offset'])
            if known < 0:
                return 409, {'code': 'run_position', 'title': 'Not the next part'}
            fresh_bytes = content[known:]
            if query.get('final') != 'true':
                line_end = fresh_bytes.rfind(b'\n') + 1
                whole = len(fresh_bytes.decode('utf-8', 'ignore').encode())
                fresh_bytes = fresh_bytes[: line_end or whole]
            run.output += fresh_bytes
        elif parts == ['results']:
            if run.exit:
                return 409, {'code': 'run_ended', 'title': 'Run has ended'}
            run.results = json.loads(content)
        elif parts == ['exit']:
            run.exit = json.loads(content)
            run.exits += 1
        return 200, run.position


def reply(request: BaseHTTPRequestHandler, status: int, body: Any = None, **headers: str) -> None:
    """Sends an answer."""
    content = b'' if body is None else json.dumps(body).encode()
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace('_', '-'), value)
    request.send_header('Content-Length', str(len(content)))
    request.end_headers()
    request.wfile.write(content)


def answers(status: int, body: Any = None, **headers: str) -> Fault:
    """A fault that is an answer."""

    def fault(request: BaseHTTPRequestHandler) -> bool:
        reply(request, status, body, **headers)
        return True

    return fault


def cuts(request: BaseHTTPRequestHandler) -> bool:
    """A fault: the connection ends without an answer, and nothing was stored."""
    request.connection.shutdown(socket.SHUT_RDWR)
    return True


def delays(seconds: float) -> Fault:
    """A fault: the answer comes late."""

    def fault(_: BaseHTTPRequestHandler) -> bool:
        time.sleep(seconds)
        return False

    return fault
