"""A headless Chromium, over its debugging protocol, with nothing but Python's library."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from peers import fail


class Chromium:
    """A browser with one page."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        self.process = subprocess.Popen(
            [
                shutil.which("chromium") or shutil.which("google-chrome") or "chrome",
                "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--hide-scrollbars",
                "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.calls = 0
        self.socket = None

    def __enter__(self):
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self):
        file = Path(self.folder) / "DevToolsActivePort"
        for _ in range(1500):
            if file.exists() and file.read_text().count("\n"):
                break
            time.sleep(0.02)
        else:
            fail("the browser did not start")
        port = int(file.read_text().split("\n")[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as response:
            pages = [page for page in json.load(response) if page["type"] == "page"]
        path = pages[0]["webSocketDebuggerUrl"].split(str(port), 1)[1]
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.input = self.socket.makefile("rb")
        if b"101" not in self.input.readline():
            fail("the browser refused the connection")
        while self.input.readline().strip():
            pass
        self.call("Page.enable")
        self.call("Runtime.enable")

    def call(self, method, **parameters):
        """Calls a method, and returns its result."""
        self.calls += 1
        self.send({"id": self.calls, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if message.get("id") == self.calls:
                if "error" in message:
                    fail(f"{method}: {message['error']}")
                return message["result"]

    def send(self, message):
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        length = len(data)
        if length < 126:
            head = struct.pack("!BB", 0x81, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, length)
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        parts = b""
        while True:
            first, length = self.input.read(2)
            length &= 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self.input.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.input.read(8))
            data = self.input.read(length)
            # Text, or its continuation; other frames say nothing here.
            if first & 0x0F in (0, 1):
                parts += data
                if first & 0x80:
                    return json.loads(parts)

    # --- The page ---

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def reload(self):
        self.evaluate("window.isOld = true")
        self.call("Page.reload")
        self.wait("!window.isOld && document.readyState === 'complete'")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            fail(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition, seconds=60):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # The old page may be gone, and the new one not there.
            result = self.call("Runtime.evaluate", expression=condition, returnByValue=True)
            if result["result"].get("value") is True:
                return
            time.sleep(0.03)
        fail(f"the page never had: {condition}; it has {self.evaluate('document.body.innerText')}")

    def set_scheme(self, scheme):
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def set_size(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )

    def screenshot(self, file):
        # What was shown last is drawn in the next frame.
        self.evaluate("draw()")
        data = self.call("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(data))
