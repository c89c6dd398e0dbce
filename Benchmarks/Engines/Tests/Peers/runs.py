#!/usr/bin/env python3
"""Kills a service of runs again and again: none that was acknowledged is lost, none that was stopped goes on.

    runs.py PATH-OF-TOKENS [RUNS] [KILLS]
"""

import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from peers import expect, fail


class Tokens:
    """A `tokens` process over one folder."""

    def __init__(self, binary, folder):
        self.process = subprocess.Popen(
            [binary, folder, "0", "100000", "1"], stdout=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            fail(f"the service said {line!r}")
        self.port = int(line.rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path):
        """Status, header fields and body."""
        self.connection.request(method, path)
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def words(number):
    return [f"w{number}", "and", "so"][: 1 + number % 3]


def expected(number):
    """All tokens of a run: its words, twenty times."""
    prompt = words(number)
    return [{"n": n, "text": prompt[n % len(prompt)]} for n in range(20 * len(prompt))]


class Known:
    """What the service has acknowledged."""

    def __init__(self):
        self.started = 0
        self.stopping = set()
        self.stopped = {}
        self.times = []

    def live(self, service, count):
        """Begins runs, and stops every fourth of them, until the service is gone."""
        while self.started < count:
            number = self.started
            status, _, _ = service.ask("POST", f"/runs/r{number}?prompt={'%20'.join(words(number))}")
            expect(status in (200, 201), f"a run began with {status}")
            self.started += 1
            if number % 4:
                continue
            time.sleep(random.random() * 0.02)
            self.stopping.add(number)
            start = time.monotonic()
            status, _, _ = service.ask("POST", f"/runs/r{number}/stop")
            self.times.append(time.monotonic() - start)
            expect(status == 204, f"a run was stopped with {status}")
            _, headers, _ = service.ask("GET", f"/runs/r{number}?offset=now")
            expect(headers["Stream-Closed"] == "true", "a run that was stopped has not ended")
            self.stopped[number] = int(headers["Stream-Next-Offset"][-16:])


def main():
    if len(sys.argv) < 2:
        fail("usage: runs.py PATH-OF-TOKENS [RUNS] [KILLS]")
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    known = Known()
    with tempfile.TemporaryDirectory(prefix="runs-") as folder:
        for kill in range(kills):
            service = Tokens(binary, folder)
            # At a random moment, also while nothing is asked.
            alarm = threading.Timer(random.random() * 0.5, service.kill)
            alarm.start()
            try:
                known.live(service, count * (kill + 1) // kills)
            except (OSError, http.client.HTTPException):
                pass
            alarm.join()
        service = Tokens(binary, folder)
        known.live(service, count)
        deadline = time.monotonic() + 120
        while True:
            runs = json.loads(service.ask("GET", "/runs")[2])
            if all(run["ended"] for run in runs):
                break
            expect(time.monotonic() < deadline, "runs do not end")
            time.sleep(0.2)
        expect(len(runs) == count, f"{len(runs)} runs of {count}")
        cut = 0
        for number in range(count):
            tokens = json.loads(service.ask("GET", f"/runs/r{number}")[2])
            whole = expected(number)
            expect(tokens == whole[: len(tokens)], f"run {number} has other tokens")
            if number in known.stopped:
                expect(len(tokens) == known.stopped[number], f"run {number} has gone on")
            if number not in known.stopping:
                expect(len(tokens) == len(whole), f"run {number} has lost tokens")
            cut += len(tokens) < len(whole)
        service.kill()
    times = sorted(known.times)
    print(
        f"{count} runs, {kills} kills: none lost, {len(known.stopped)} stopped and none gone on,"
        f" {cut} of them before their end; a stop took {times[len(times) // 2] * 1000:.1f} ms,"
        f" {times[-1] * 1000:.1f} ms at most"
    )


if __name__ == "__main__":
    main()
