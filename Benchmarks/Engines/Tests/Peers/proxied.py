#!/usr/bin/env python3
"""Reads a list through nginx: with a cache, with gzip, with a short time limit, and when it is away.

    proxied.py PATH-OF-FEED PATH-OF-WATCH
"""

import gzip
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from peers import Server, expect, fail, fnv

CONFIGURATION = """
worker_processes 1;
daemon off;
# One process, with the rights of this user.
master_process off;
error_log {folder}/errors;
pid {folder}/pid;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  proxy_cache_path {folder}/cache keys_zone=lists:1m;
  proxy_connect_timeout 1s;
  proxy_http_version 1.1;
  server {{
    listen 127.0.0.1:{port};
    location /plain/ {{ proxy_pass http://127.0.0.1:{target}/; }}
    location /cache/ {{
      proxy_pass http://127.0.0.1:{target}/;
      proxy_cache lists;
      add_header X-Cache $upstream_cache_status always;
    }}
    location /gzip/ {{
      proxy_pass http://127.0.0.1:{target}/;
      gzip on;
      gzip_proxied any;
      gzip_min_length 1;
      gzip_types application/json text/event-stream;
    }}
    location /short/ {{
      proxy_pass http://127.0.0.1:{target}/;
      proxy_read_timeout 1s;
      send_timeout 1s;
    }}
  }}
}}
"""


class Nginx:
    def __init__(self, target):
        self.folder = tempfile.TemporaryDirectory(prefix="nginx-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        file = Path(self.folder.name) / "nginx.conf"
        file.write_text(
            CONFIGURATION.format(folder=self.folder.name, port=self.port, target=target)
        )
        self.command = ["nginx", "-e", f"{self.folder.name}/errors", "-c", str(file)]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def start(self):
        self.process = subprocess.Popen(self.command)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        fail("nginx does not listen")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def get(url, **headers):
    """Status, header fields and body; other statuses than 200 are no error."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def watched(watch, url, *options):
    """A process of `watch`."""
    return subprocess.Popen([watch, url, *options], stdout=subprocess.PIPE, text=True)


def check(process, count, name):
    """The process ends with the list, and has printed each element once."""
    try:
        text, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        fail(f"{name}: watch does not come to the end")
    items = [json.loads(line) for line in text.splitlines()]
    expect(process.returncode == 0, f"{name}: watch ended with {process.returncode}")
    expect([item["n"] for item in items] == list(range(count)), f"{name}: not each once, in order")
    expect(items[-1]["check"] == fnv(items), f"{name}: an element has changed")


def reads_everything(feed, watch):
    """Each element once, through every kind of proxy, whatever it does to events."""
    with Server(feed, "--every", "15", "--count", "200") as server, Nginx(server.port) as proxy:
        kinds = ["plain", "cache", "gzip", "short"]
        processes = [watched(watch, f"{proxy.url}/{kind}/stream") for kind in kinds]
        for kind, process in zip(kinds, processes):
            check(process, 200, kind)


def comes_at_once(feed, watch):
    """Events are not collected, also if they are compressed."""
    with Server(feed, "--every", "200", "--count", "1000") as server, Nginx(server.port) as proxy:
        for kind in ["plain", "cache", "gzip"]:
            request = urllib.request.Request(
                f"{proxy.url}/{kind}/stream?offset=now&live=sse",
                headers={"Accept-Encoding": "gzip"},
            )
            with urllib.request.urlopen(request, timeout=10) as response:
                compressed = response.headers["Content-Encoding"] == "gzip"
                expect(compressed == (kind == "gzip"), f"{kind}: compressed is {compressed}")
                times, start = [], time.monotonic()
                while len(times) < 6:
                    expect(response.read1(65536), f"{kind}: the events have ended")
                    times.append(time.monotonic() - start)
            expect(times[-1] < 4, f"{kind}: events came at {times}")


def is_cut(feed, watch):
    """A time limit that is shorter than the silence of the list."""
    with Server(feed, "--every", "1500", "--count", "5") as server, Nginx(server.port) as proxy:
        check(watched(watch, f"{proxy.url}/short/stream"), 5, "short")


def is_away(feed, watch):
    """502 while the server is away, no connection while the proxy is."""
    with Server(feed, "--every", "20", "--count", "200") as server, Nginx(server.port) as proxy:
        process = watched(watch, f"{proxy.url}/plain/stream")
        time.sleep(0.7)
        server.kill()
        expect(get(f"{proxy.url}/plain/stream")[0] == 502, "nginx does not say 502")
        time.sleep(0.5)
        server.start()
        time.sleep(1)
        proxy.stop()
        time.sleep(0.5)
        proxy.start()
        check(process, 200, "away")


def tags_and_caches(feed, watch):
    """A compressed page has a weak tag; a page of one list is never given for another's."""
    with Server(feed, "--every", "0", "--count", "20") as server, Nginx(server.port) as proxy:
        server.complete()
        status, headers, body = get(f"{proxy.url}/gzip/stream", Accept_Encoding="gzip")
        expect(headers["Content-Encoding"] == "gzip", "the page is not compressed")
        old = json.loads(gzip.decompress(body))
        expect(len(old) == 20, f"the page has {len(old)} elements")
        tag = headers["ETag"]
        expect(tag.startswith('W/"'), f"the tag is {tag}")
        again, _, _ = get(
            f"{proxy.url}/gzip/stream?offset=-1", Accept_Encoding="gzip", If_None_Match=tag
        )
        expect(again == 304, f"a weak tag gets {again}")
        for _ in range(2):
            _, headers, body = get(f"{proxy.url}/cache/stream")
            expect(headers["X-Cache"] != "HIT", "a private page was kept for others")
        offset = headers["Stream-Next-Offset"]

        # Another list at the same address.
        server.begin_anew()
        server.complete()
        for kind in ["cache", "gzip"]:
            url = f"{proxy.url}/{kind}/stream"
            status, _, body = get(url, If_None_Match=tag)
            expect(status == 200 and json.loads(body) != old, f"{kind}: the old page, {status}")
            expect(get(f"{url}?offset={offset}")[0] == 410, f"{kind}: the old offset is taken")


def is_shared(feed, watch):
    """A cache that keeps pages for all, and makes a GET of each HEAD."""
    options = ["--every", "0", "--count", "2500", "--caches", "public"]
    with Server(feed, *options) as server, Nginx(server.port) as proxy:
        server.complete()
        url = f"{proxy.url}/cache/stream"
        for _ in range(2):
            check(watched(watch, url), 2500, "shared")
            # Where the list ends is not what a page of the cache says.
            text, _ = watched(watch, url, "--from", "2400").communicate(timeout=60)
            numbers = [json.loads(line)["n"] for line in text.splitlines()]
            expect(numbers == list(range(2400, 2500)), f"from 2400: {numbers[:3]} ...")
        _, headers, _ = get(url)
        offset = headers["Stream-Next-Offset"]
        for _ in range(2):
            _, headers, _ = get(f"{url}?offset={offset}")
        expect(headers["X-Cache"] == "HIT", f"a page was not kept: {headers['X-Cache']}")

        # The beginning is that of whatever list is there.
        old = get(f"{url}?offset=-1")[2]
        server.begin_anew()
        server.complete()
        for address in [url, f"{url}?offset=-1"]:
            expect(get(address)[2] != old, f"{address}: the beginning of the old list")
        check(watched(watch, url), 2500, "anew")


def main():
    if len(sys.argv) != 3:
        fail("usage: proxied.py PATH-OF-FEED PATH-OF-WATCH")
    for step in [reads_everything, comes_at_once, is_cut, is_away, tags_and_caches, is_shared]:
        start = time.monotonic()
        step(*sys.argv[1:])
        print(f"{step.__name__}: right, {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
