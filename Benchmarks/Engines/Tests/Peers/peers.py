"""What the scripts of this folder share: a server that is started, killed and started again."""

import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path


class Server:
    """A `feed` process over one file. It keeps its port when it is started again."""

    def __init__(self, binary, *options):
        self.binary = binary
        self.options = options
        self.folder = tempfile.TemporaryDirectory(prefix="feed-")
        self.port = 0
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        self.folder.cleanup()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        file = Path(self.folder.name) / "list"
        self.process = subprocess.Popen(
            [self.binary, str(file), "--port", str(self.port), *self.options],
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            fail(f"the server said {line!r}")
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.process:
            self.process.stdout.close()

    def begin_anew(self):
        """Starts it again, without its list."""
        self.kill()
        (Path(self.folder.name) / "list").unlink()
        self.start()

    def complete(self):
        """Waits until the list has ended."""
        end = self.url + "/stream?live=long-poll&offset=now"
        while True:
            with urllib.request.urlopen(end) as response:
                if response.headers["Stream-Closed"] == "true":
                    return


def fnv(items):
    """The hash that the last of these elements must have."""
    check = 2166136261
    for item in items:
        for byte in item["text"].encode():
            check = (check ^ byte) * 16777619 % 2**32
    return check


def fail(message):
    print(f"FAILED: {message}", file=sys.stderr)
    sys.exit(1)


def expect(condition, message):
    if not condition:
        fail(message)
