"""A page in a headless Chromium, driven over its debugging pipe: no package is needed, only the browser."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60


def found():
    """The browser of ENSEMBLAGE_CHROMIUM, or one on the path; None if there is none."""
    return os.environ.get("ENSEMBLAGE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab."""

    def __init__(self, to_browser, from_browser):
        self.to_browser, self.from_browser = to_browser, from_browser
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """The answer to a command of the protocol."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self.buffer:
            got = os.read(self.from_browser, 2**20)
            assert got, "the browser has gone"
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=900, dark=False, script=True):
        """Load a file, and wait until it is there."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self._wait_for("Page.loadEventFired")

    def _wait_for(self, method):
        limit = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self.events):
            assert time.monotonic() < limit, f"no {method}"
            self.events.append(self._next())

    def run(self, expression):
        """The value of an expression in the page, once it is settled."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def complaints(self):
        """What the page logged and threw, and what it asked of the network."""
        self.run("1")
        asked = [e["params"]["request"]["url"] for e in self._of("Network.requestWillBeSent")]
        logged = [e["params"]["entry"]["text"] for e in self._of("Log.entryAdded")]
        thrown = [e["params"]["exceptionDetails"]["text"] for e in self._of("Runtime.exceptionThrown")]
        return [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] + logged + thrown

    def _of(self, method):
        return [event for event in self.events if event.get("method") == method]

    def mouse(self, kind, x, y, **more):
        buttons = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **buttons, **more)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS.get(key, 0))

    def picture(self, path, whole=True):
        """Save what is seen as PNG; of the whole page, or of the window."""
        data = self.call(
            "Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._all()} if whole else {})
        )
        Path(path).write_bytes(base64.b64decode(data["data"]))

    def _all(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def pdf(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


KEYS = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}


@contextmanager
def browser():
    """A browser with one tab, and a profile of its own that goes with it."""
    read, to_browser = os.pipe()
    from_browser, write = os.pipe()

    def as_three_and_four():
        high = os.dup(read), os.dup(write)
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
    ]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [found(), *flags, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            preexec_fn=as_three_and_four,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            os.close(to_browser)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(from_browser)
