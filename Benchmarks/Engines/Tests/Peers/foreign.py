#!/usr/bin/env python3
"""Reads a list with the client `durable-streams` of PyPI, while its server is killed three times.

    foreign.py PATH-OF-FEED

Each of 800 elements must be read once, in order: by long polls, and by Server-Sent Events. The
client stops at a lost connection, and knows no end of a list: this program reads on from the
client's last offset, up to the known count.
"""

import sys
import threading
import time

import httpx
from durable_streams import stream

from peers import Server, expect, fail, fnv

COUNT = 800
KILLS_AT = [150, 400, 650]


def read(server, live):
    items, offset, lost, kills = [], "-1", 0, list(KILLS_AT)
    deadline = time.monotonic() + 120
    while len(items) < COUNT:
        expect(time.monotonic() < deadline, f"{live}: only {len(items)} elements in time")
        try:
            with stream(server.url + "/stream", offset=offset, live=live, timeout=30) as response:
                # A batch, and the offset after it, come together or not at all.
                for event in response.iter_events(mode="json"):
                    items += event.data
                    offset = event.next_offset
                    if kills and len(items) >= kills[0]:
                        kills.pop(0)
                        restart(server)
                    if len(items) >= COUNT:
                        break
        except httpx.TransportError:
            lost += 1
            time.sleep(0.02)
    expect(not kills, f"{live}: the server was not killed {len(KILLS_AT)} times")
    expect([item["n"] for item in items] == list(range(COUNT)), f"{live}: not each once, in order")
    expect(items[-1]["check"] == fnv(items), f"{live}: an element has changed")
    processes = {item["text"].split()[3] for item in items}
    print(
        f"{live}: {len(items)} elements, each once and in order, computed by {len(processes)} "
        f"processes; {lost} lost connections"
    )


def restart(server):
    """Kills the server now. It is back while the client already tries to connect."""

    def start():
        time.sleep(0.1)
        server.start()

    server.kill()
    threading.Thread(target=start).start()


def main():
    if len(sys.argv) != 2:
        fail("usage: foreign.py PATH-OF-FEED")
    for live in ["long-poll", "sse"]:
        with Server(sys.argv[1], "--every", "4", "--count", str(COUNT)) as server:
            read(server, live)


if __name__ == "__main__":
    main()
