"""A headless Chromium over its debugging pipe: no network port, nothing beyond the standard library."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds for one answer; the machine may be busy


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="ulb-browser-")
        to_browser, self.out = os.pipe()
        self.inn, from_browser = os.pipe()
        arguments = [program, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--disable-dev-shm-usage", f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")

        def place_pipes():  # the browser reads from 3 and writes to 4
            os.dup2(os.dup(to_browser), 1003)
            os.dup2(os.dup(from_browser), 1004)
            os.dup2(1003, 3)
            os.dup2(1004, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inn)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.inn, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=True, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session and self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"{method}: no answer")

    def wait_for(self, event):
        end = time.monotonic() + PATIENCE
        while not any(seen.get("method") == event for seen in self.events):
            if time.monotonic() > end:
                raise RuntimeError(f"no {event}")
            self.events.append(self.receive())

    def open(self, path):
        """A new page; what it complains of and asks for is in events."""
        target = self.call("Target.createTarget", session=False, url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", session=False, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def complaints(self):
        """Console messages, exceptions and log entries since the page was opened."""
        words = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event.get("method") in words]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def prefer(self, scheme, media=""):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
