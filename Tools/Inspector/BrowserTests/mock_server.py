#!/usr/bin/python3
"""Serves the page and, from a file of JSON Lines, the documents that annals-serve would answer.

Usage: mock_server.py FILE [PORT]. It prints the address. POST-free, loopback only; for tests of the page.
"""

import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.parse

from mock_documents import MockDocuments
from mock_store import Fault, MockStore

PAGE = pathlib.Path(__file__).resolve().parent.parent / "Page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")

DAMAGE = ("the store is damaged: the frame's payload was changed. Nothing was changed. Verify it to see what is affected; "
          "restore a copy, or salvage everything readable into a new file (offset 691296)")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None
    isDamaged = False
    # The newest state can be read, the history cannot.
    isHistoryDamaged = False
    rows = 0
    lock = threading.Lock()

    def log_message(self, *words):
        pass

    def do_GET(self):
        place = urllib.parse.urlparse(self.path)
        query = dict(urllib.parse.parse_qsl(place.query))
        if place.path == "/api/events":
            return self.events()
        if place.path == "/api/value":
            return self.value(query)
        if place.path.startswith("/api/"):
            return self.document(place.path[5:], query)
        name = place.path.removeprefix("/page").lstrip("/") or "index.html"
        file = PAGE / name
        if "/" in name or not file.is_file():
            return self.send(404, "text/plain", b"not found")
        return self.send(200, TYPES.get(file.suffix, "text/plain") + "; charset=utf-8", file.read_bytes())

    def document(self, name, query):
        try:
            if self.isDamaged and name not in ("stores", "frames", "strip", "bytes", "findings", "space"):
                raise Fault(422, "damaged", "mock.annals is damaged", remedy="annals salvage mock.annals saved.annals")
            if self.isHistoryDamaged and name in ("density", "transactions", "life"):
                raise Fault(422, "damaged", DAMAGE, remedy="annals salvage mock.annals saved.annals")
            documents = MockDocuments(self.store, self.isDamaged, self.rows)
            with self.lock:
                answer, status = documents.answer(name, query), 200
        except Fault as fault:
            answer, status = {"error": fault.error}, fault.status
        self.send(status, "application/json", json.dumps(answer).encode())

    def value(self, query):
        place = self.store.find(query["object"])
        number = self.store.number(query.get("transaction") or query.get("at"))
        if query.get("side") == "before":
            number -= 1
        value = self.store.state(number).get(place, {}).get(query["property"], "")
        text = value if isinstance(value, str) else json.dumps(value)
        self.send(200, "text/plain; charset=utf-8", text.encode())

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            shown = -1
            while True:
                if shown != self.store.head:
                    shown = self.store.head
                    data = json.dumps({"head": shown, "size": 25264})
                    self.wfile.write(f"event: head\ndata: {data}\n\n".encode())
                    self.wfile.flush()
                time.sleep(0.2)
        except OSError:
            self.close_connection = True

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A browser that gives a request up is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(path, port=0):
    """A server that is not running yet, and its address."""
    handler = type("StoreHandler", (Handler,), {"store": MockStore(path)})
    server = Server(("127.0.0.1", port), handler)
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


if __name__ == "__main__":
    running, address = serve(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(address, flush=True)
    running.serve_forever()
