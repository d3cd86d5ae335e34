"""A real git server over HTTP for the tests: `git http-backend` behind Python's own server, with a password."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

USER, PASSWORD = 'robot', 'pass word/of+git@%'


class GitServer:
    """Serves the repositories below a folder; `faults` answer the next requests in its place."""

    def __init__(self, root: Path, certificate: Path | None = None) -> None:
        self.root = root
        self.requests: list[str] = []
        self.faults: list[Callable[[BaseHTTPRequestHandler], bool]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def handle_any(self) -> None:
                content = self.rfile.read(int(self.headers.get('content-length') or 0))
                server.requests.append(self.path)
                if server.faults and server.faults.pop(0)(self):
                    return
                expected = base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
                if self.headers.get('authorization') != f'Basic {expected}':
                    self.send_response(401)
                    self.send_header('WWW-Authenticate', 'Basic realm="git"')
                    self.send_header('Content-Length', '0')
                    self.end_headers()
                    return
                server._serve(self, content)

            do_GET = do_POST = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        scheme = 'http' if certificate is None else 'https'
        self.url = f'{scheme}://127.0.0.1:{self._server.server_address[1]}'
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def repository(self, name: str, files: dict[str, str], links: dict[str, str] | None = None) -> str:
        """Makes a repository, or a further commit in it; answers the commit's id."""
        place = self.root / name
        if not place.exists():
            place.mkdir(parents=True)
            git(place, 'init', '--quiet', '--initial-branch=main')
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        for path, target in (links or {}).items():
            os.symlink(target, place / path)
        git(place, 'add', '--all')
        git(place, 'commit', '--quiet', '--allow-empty', '-m', 'change')
        return git(place, 'rev-parse', 'HEAD')

    def _serve(self, request: BaseHTTPRequestHandler, content: bytes) -> None:
        url = urlsplit(request.path)
        done = subprocess.run(
            ['git', '-c', 'safe.directory=*', 'http-backend'],
            input=content,
            capture_output=True,
            check=False,
            env={
                'PATH': os.environ['PATH'],
                'GIT_PROJECT_ROOT': str(self.root),
                'GIT_HTTP_EXPORT_ALL': '1',
                'GIT_CONFIG_NOSYSTEM': '1',
                'HOME': '/nonexistent',
                'PATH_INFO': url.path,
                'QUERY_STRING': url.query,
                'REQUEST_METHOD': request.command,
                'CONTENT_TYPE': request.headers.get('content-type', ''),
                'HTTP_CONTENT_ENCODING': request.headers.get('content-encoding', ''),
                'GIT_PROTOCOL': request.headers.get('git-protocol', ''),
            },
        )
        head, _, body = done.stdout.partition(b'\r\n\r\n')
        headers = dict(line.split(': ', 1) for line in head.decode().splitlines())
        request.send_response(int(headers.pop('Status', '200')[:3]))
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header('Content-Length', str(len(body)))
        request.end_headers()
        request.wfile.write(body)


def git(place: Path, *args: str) -> str:
    """Runs git in a repository without anybody's configuration."""
    env = {'PATH': os.environ['PATH'], 'HOME': '/nonexistent', 'GIT_CONFIG_NOSYSTEM': '1'}
    for role in ('AUTHOR', 'COMMITTER'):
        env.update({f'GIT_{role}_NAME': 'Test', f'GIT_{role}_EMAIL': 'test@example.com'})
    return subprocess.run(['git', '-C', place, *args], env=env, check=True, capture_output=True, text=True).stdout.strip()
