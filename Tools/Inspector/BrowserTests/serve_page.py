#!/usr/bin/python3
"""Serves the page from this folder with the documents of a running annals-serve.

    serve_page.py ADDRESS [PORT]

ADDRESS is the one that annals-serve printed. A page that is edited is shown without a build.
"""

import http.client
import http.cookies
import sys
import urllib.parse

import mock_server


class Handler(mock_server.Handler):
    """Answers page files itself and passes everything below /api on."""

    address = None
    cookie = ""

    def do_GET(self):
        if not self.path.startswith("/api/"):
            return super().do_GET()
        connection = http.client.HTTPConnection(self.address, timeout=60)
        headers = {"Cookie": self.cookie, "Host": self.address}
        if "Range" in self.headers:
            headers["Range"] = self.headers["Range"]
        try:
            connection.request("GET", self.path, headers=headers)
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() in ("content-type", "content-range", "x-length", "content-disposition"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while part := answer.read1(65536):
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.close_connection = True
            connection.close()


def serve(printed, port=0):
    """A server that is not running yet, and its address."""
    place = urllib.parse.urlparse(printed)
    connection = http.client.HTTPConnection(place.netloc)
    connection.request("GET", f"/?{place.query}")
    cookies = http.cookies.SimpleCookie(connection.getresponse().getheader("Set-Cookie"))
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items())
    handler = type("PassingHandler", (Handler,), {"address": place.netloc, "cookie": cookie})
    server = mock_server.Server(("127.0.0.1", port), handler)
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


if __name__ == "__main__":
    running, address = serve(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(address, flush=True)
    running.serve_forever()
