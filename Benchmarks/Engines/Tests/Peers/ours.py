#!/usr/bin/env python3
"""Our client reads a list of a server that is not ours: this one, written from the protocol's text.

    ours.py PATH-OF-WATCH

Its offsets are opaque, and only at the ends of batches; it tells no identity, and its events have no ID.
It ends responses whenever it likes, and one of its kinds knows no events.
"""

import json
import random
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from peers import expect, fail

COUNT = 400


class List:
    """Batches of elements that come with time."""

    def __init__(self):
        self.batches = []
        self.isClosed = False
        self.changed = threading.Condition()

    def fill(self):
        number = 0
        while number < COUNT:
            size = min(random.randint(1, 9), COUNT - number)
            with self.changed:
                self.batches.append(list(range(number, number + size)))
                self.changed.notify_all()
            number += size
            time.sleep(0.02)
        with self.changed:
            self.isClosed = True
            self.changed.notify_all()

    def wait(self, index, seconds):
        """Waits for a batch, or the end."""
        with self.changed:
            self.changed.wait_for(lambda: index < len(self.batches) or self.isClosed, seconds)


def name(index):
    """An offset: in the order of the list, and nothing that can be computed with."""
    return f"k{index:06d}x"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        stored, live = self.server.list, query.get("live")
        offset = query.get("offset", "-1")
        self.server.modes.add(live)
        if offset == "-1":
            index = 0
        elif offset == "now":
            index = len(stored.batches)
        elif offset.startswith("k") and offset.endswith("x"):
            index = int(offset[1:-1])
        else:
            return self.reply(400, b"an offset of another server")
        if live == "sse":
            if not self.server.has_events:
                return self.reply(400, b"no events here")
            return self.events(index)
        if live == "long-poll":
            stored.wait(index, 0.5)
        page = [item for batch in stored.batches[index : index + 3] for item in batch]
        index = min(index + 3, max(len(stored.batches), index))
        isLast = index == len(stored.batches)
        headers = {"Stream-Next-Offset": name(index), "Cache-Control": "no-store"}
        if live:
            headers["Stream-Cursor"] = "7"
        if isLast:
            headers["Stream-Up-To-Date"] = "true"
        if isLast and stored.isClosed:
            headers["Stream-Closed"] = "true"
        if live == "long-poll" and not page:
            return self.reply(204, b"", headers)
        self.reply(200, json.dumps(page, indent=1).encode(), headers)

    def reply(self, status, body, headers={}):
        self.send_response(status)
        for field, value in headers.items():
            self.send_header(field, value)
        if status == 200:
            self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self, index):
        stored = self.server.list
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        end = time.monotonic() + random.uniform(0.05, 0.6)
        while time.monotonic() < end:
            stored.wait(index, 0.1)
            if index < len(stored.batches):
                lines = json.dumps(stored.batches[index], indent=1).splitlines()
                text = "event: data\n" + "".join(f"data:{line}\n" for line in lines) + "\n"
                index += 1
            elif not stored.isClosed:
                continue
            else:
                text = ""
            control = {"streamNextOffset": name(index)}
            if index == len(stored.batches):
                control["upToDate"] = True
                if stored.isClosed:
                    control["streamClosed"] = True
            text += f"event: control\ndata: {json.dumps(control)}\n\n"
            # Sometimes it is cut in the middle.
            cut = random.randint(0, len(text)) if random.random() < 0.05 else len(text)
            self.wfile.write(text[:cut].encode())
            self.wfile.flush()
            if cut < len(text) or control.get("streamClosed"):
                return


def reads(watch, has_events):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.list, server.has_events, server.modes = List(), has_events, set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=server.list.fill, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/stream"
    try:
        process = subprocess.run([watch, url], stdout=subprocess.PIPE, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        fail(f"watch does not come to the end; it has asked for {server.modes}")
    server.shutdown()
    numbers = [json.loads(line) for line in process.stdout.splitlines()]
    expect(process.returncode == 0, f"watch ended with {process.returncode}")
    expect(numbers == list(range(COUNT)), f"not each once, in order: {numbers[-5:]}")
    kind = "events" if has_events else "no events"
    modes = sorted(str(mode) for mode in server.modes)
    print(f"{kind}: {len(numbers)} elements, each once and in order, by {', '.join(modes)}")


def main():
    if len(sys.argv) != 2:
        fail("usage: ours.py PATH-OF-WATCH")
    for has_events in [True, False]:
        reads(sys.argv[1], has_events)


if __name__ == "__main__":
    main()
