#!/usr/bin/env python3
"""Shows the page in a headless Chromium, through reloads and restarts of its server.

    browser.py PATH-OF-FEED FOLDER-FOR-SCREENSHOTS

The page counts what it reads; its counters must be right at the end.
"""

import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from chromium import Chromium
from peers import Server, expect, fail, fnv
from proxied import Nginx

COUNT = 150
FAULTS = "feed.gaps + feed.duplicates + feed.changed"


def survives(browser, binary, shot):
    with Server(binary, "--every", "60", "--count", str(COUNT)) as server:
        browser.set_scheme("light")
        browser.open(server.url + "/")
        browser.wait("feed.elements >= 12")
        shot("1-live")
        status = browser.evaluate("document.getElementById('status').textContent")
        expect(status == "Live", f"the page says {status}")

        # A reload goes on where the page was.
        before = browser.evaluate("feed.elements")
        browser.reload()
        expect(browser.evaluate("feed.reloads") == 1, "the page does not know it was reloaded")
        expect(browser.evaluate("feed.elements") >= before, "the page has forgotten elements")
        browser.wait(f"feed.elements > {before}")
        shot("2-reloaded")

        # The server is killed, twice; once the page is reloaded as soon as it is back.
        server.kill()
        browser.wait("document.getElementById('status').dataset.state === 'reconnecting'")
        shot("3-reconnecting")
        before = browser.evaluate("feed.elements")
        server.start()
        browser.wait(f"feed.elements > {before}")
        expect(browser.evaluate("feed.reconnects") >= 1, "the page does not count its reconnect")
        server.kill()
        server.start()
        browser.reload()
        browser.wait("document.getElementById('status').dataset.state === 'complete'")
        shot("4-complete")
        browser.set_scheme("dark")
        shot("5-complete-dark")

        check(browser, server)

        # A complete list is not requested again.
        browser.reload()
        browser.wait("document.getElementById('status').textContent === 'Complete'")
        requests = browser.evaluate("performance.getEntriesByType('resource').length")
        expect(requests == 0, "the page requests a complete list again")
        expect(browser.evaluate("feed.elements") == COUNT, "a reload has lost elements")

        # From the beginning: all again, and again complete.
        browser.evaluate("document.getElementById('restart').click()")
        browser.wait("feed.isComplete && feed.elements > 0")
        expect(browser.evaluate("feed.reloads") == 0, "the counters are not new")
        check(browser, server)
        for name in ["elements", "gaps", "duplicates", "changed", "reconnects", "reloads"]:
            browser.wait(
                f"document.getElementById('{name}').textContent === feed.{name}.toLocaleString('en')"
            )
    return browser.evaluate("feed.elements")


def check(browser, server):
    """The page has read what the server has stored."""
    with urllib.request.urlopen(server.url + "/stream") as response:
        items = json.load(response)
    expect(len(items) == COUNT, f"the server has {len(items)} elements")
    feed = browser.evaluate("feed")
    expect(feed["elements"] == COUNT, f"the page has {feed['elements']} elements")
    expect(feed["gaps"] == 0, "gaps")
    expect(feed["duplicates"] == 0, "duplicates")
    expect(feed["changed"] == 0, "changed elements")
    expect(feed["check"] == fnv(items), "the page has read other elements")
    expect(feed["latest"][0]["n"] == COUNT - 1, "the last element is not the first that is shown")


def notices(browser, binary, shot):
    """The page finds faults: its zeros mean something."""
    with Server(binary, "--every", "0", "--count", "5") as server:
        browser.open(server.url + "/")
        browser.wait("feed.isComplete")
        expect(browser.evaluate(FAULTS) == 0, "faults without a reason")
        browser.evaluate("take({ n: 3, text: 'twice', check: 0 }); show('live')")
        expect(browser.evaluate("feed.duplicates") == 1, "a duplicate was not noticed")
        browser.evaluate("take({ n: 5, text: 'changed', check: 0 }); show('live')")
        expect(browser.evaluate("feed.changed") == 1, "a change was not noticed")
        browser.evaluate("take({ n: 9, text: 'later', check: 0 }); show('live')")
        expect(browser.evaluate("feed.gaps") == 3, "a gap was not noticed")
        shot("6-faults")


def begins_later(browser, binary, shot):
    """Discarded elements are no gap: the server says that they are gone."""
    with Server(binary, "--every", "0", "--count", "100", "--keep", "20") as server:
        server.complete()
        browser.open(server.url + "/")
        browser.wait("feed.isComplete")
        expect(browser.evaluate("feed.discarded") > 0, "nothing was discarded")
        expect(browser.evaluate(FAULTS) == 0, "discarded elements are taken for a fault")
        # A page that was away for long.
        browser.evaluate(
            "feed = { ...structuredClone(empty), position: '0000000000000003', next: 3,"
            " elements: 3, mayBeginLater: false }; save()"
        )
        browser.reload()
        browser.wait("feed.isComplete")
        expect(browser.evaluate("feed.discarded") > 0, "410 was not understood")
        expect(browser.evaluate(FAULTS) == 0, "410 is taken for a fault")
        shot("7-discarded")

        browser.evaluate("feed = { ...structuredClone(empty), position: 'nonsense' }; save()")
        browser.reload()
        browser.wait("document.getElementById('status').dataset.state === 'stopped'")
        shot("8-refused")


def behind_proxy(browser, binary, shot):
    """A proxy's 502 ends an EventSource for good, and so does a 410: not the page."""
    with Server(binary, "--every", "30", "--count", "100") as server, Nginx(server.port) as proxy:
        browser.open(proxy.url + "/plain/")
        browser.wait("feed.elements >= 12")
        browser.evaluate(
            "window.attempts = 0; window.EventSource = class extends EventSource {"
            " constructor(...all) { super(...all); attempts += 1 } }; 0"
        )
        server.kill()
        # The third attempt shows that neither a lost connection nor a 502 was the last one.
        browser.wait("attempts >= 3")
        state = browser.evaluate("document.getElementById('status').dataset.state")
        expect(state == "reconnecting", f"the page is {state} while the server is away")
        # An attempt may be under way. One that has failed is closed, and must not be kept.
        expect(
            browser.evaluate("source?.readyState !== EventSource.CLOSED"),
            "an EventSource is left after a 502",
        )
        shot("9-bad-gateway")
        before = browser.evaluate("feed.elements")
        server.start()
        browser.wait(f"feed.elements > {before}")
        expect(browser.evaluate(FAULTS) == 0, "faults after a 502")

        # A 410 of somebody else on the way does not say where the list begins.
        browser.evaluate(
            "disconnect(); const sent = fetch; window.fetch = async () => {"
            " window.fetch = sent; return new Response('', { status: 410 }) }; inquire(); 0"
        )
        browser.wait("source !== null")
        expect(browser.evaluate("feed.lists") == 1, "somebody else's 410 is taken for a new list")

        server.begin_anew()
        browser.wait("feed.lists === 2 && feed.isComplete")
        expect(browser.evaluate("feed.elements") == 100, "the new list was not read as a whole")
        expect(browser.evaluate(FAULTS) == 0, "one list was put behind another one")
        summary = browser.evaluate("document.getElementById('summary').textContent")
        expect("was begun anew" in summary, f"the page says {summary}")
        shot("10-begun-anew")


class BlankPage(BaseHTTPRequestHandler):
    """A site of its own, with an empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


def of_another_origin(browser, binary, shot):
    """A page of another site reads a list if the endpoint allows it, by pages and by events."""
    read = """
        window.found = null;
        fetch('{url}?offset=-1', {{headers: {{'Cache-Control': 'no-cache'}}}})
          .then(async (response) => {{
            const next = response.headers.get('Stream-Next-Offset');
            const items = (await response.json()).length;
            const source = new EventSource('{url}?offset=-1&live=sse');
            const end = (events) => {{ source.close(); window.found = {{next, items, events}}; }};
            source.addEventListener('data', (event) => end(JSON.parse(event.data).length));
            source.onerror = () => end(-1);
          }})
          .catch((error) => {{ window.found = {{error: String(error)}}; }});
        0
        """
    with HTTPServer(("127.0.0.1", 0), BlankPage) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{site.server_port}"
        browser.open(origin + "/")
        for allowed, options in [
            (True, ["--origins", "all"]),
            (True, ["--origins", origin]),
            (False, ["--origins", "https://example.com"]),
            (False, []),
        ]:
            with Server(binary, "--every", "0", "--count", "7", *options) as server:
                server.complete()
                browser.evaluate(read.format(url=server.url + "/stream"))
                browser.wait("window.found !== null")
                found = browser.evaluate("window.found")
                if allowed:
                    expect(found.get("items") == 7 and found.get("events") == 7, f"{options}: {found}")
                    expect("_" in (found.get("next") or ""), f"{options}: no field, {found}")
                else:
                    expect("error" in found, f"{options}: it is read, {found}")
        site.shutdown()


def narrow(browser, binary, shot):
    with Server(binary, "--every", "20") as server:
        browser.set_size(360, 800)
        browser.set_scheme("dark")
        browser.open(server.url + "/")
        browser.wait("feed.elements >= 12")
        width = browser.evaluate("document.documentElement.scrollWidth")
        expect(width <= 360, f"the page is {width} wide on a screen of 360")
        shot("11-narrow")


def main():
    if len(sys.argv) != 3:
        fail("usage: browser.py PATH-OF-FEED FOLDER-FOR-SCREENSHOTS")
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with Chromium() as browser:
        browser.set_size(900, 900)
        for step in [survives, notices, begins_later, behind_proxy, of_another_origin, narrow]:
            step(browser, sys.argv[1], lambda name: browser.screenshot(folder / f"{name}.png"))
            print(f"{step.__name__}: right")


if __name__ == "__main__":
    main()
