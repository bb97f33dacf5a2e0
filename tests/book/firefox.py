"""Firefox, driven by what it speaks itself: WebDriver BiDi. So no driver is needed beside it, which Debian does not have."""

import base64
import json
import re
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver.remote.websocket_connection import WebSocketConnection

# it asks nothing of other hosts, and behaves as if it were seen
SETTINGS = {
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.update.enabled": False,
    "browser.search.update": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "focusmanager.testmode": True,  # a window that nobody sees has the focus: without it a radio button takes no key
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "data:,",
}


class Firefox:
    """One tab: goes to an address, runs scripts in the page, presses keys and the mouse."""

    def __init__(self, connection):
        self.connection = connection
        self.tell("session.new", capabilities={})
        self.tab = self.tell("browsingContext.create", type="tab")["context"]

    def tell(self, method, **what):
        reply = self.connection.send_cmd(method, what)
        assert "error" not in reply, f"{method}: {reply}"
        return reply["result"]

    def resize(self, width, height):
        self.tell(
            "browsingContext.setViewport", context=self.tab, viewport={"width": width, "height": height}
        )

    def go(self, address):
        self.tell("browsingContext.navigate", context=self.tab, url=address, wait="complete")
        while self.run("() => [location.href, document.readyState]") != [address, "complete"]:
            time.sleep(
                0.05
            )  # from http to the disk it changes its process, and says too early that it is there

    def run(self, function, *arguments):
        """Call a function in the page, and return what it returns, or what its promise brings."""
        text = f"async () => JSON.stringify(await ({function})(...{json.dumps(arguments)}) ?? null)"
        target = {"context": self.tab}
        reply = self.tell("script.callFunction", functionDeclaration=text, target=target, awaitPromise=True)
        assert reply["type"] == "success", reply["exceptionDetails"]["text"]
        return json.loads(reply["result"]["value"])

    def act(self, kind, *actions, **more):
        source = {"type": kind, "id": kind, "actions": list(actions), **more}
        self.tell("input.performActions", context=self.tab, actions=[source])

    def press(self, key):
        self.act("key", {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})

    def click(self, x, y):
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        self.act("pointer", move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def picture(self):
        return base64.b64decode(self.tell("browsingContext.captureScreenshot", context=self.tab)["data"])


@contextmanager
def firefox(path):
    """Start it without a window, and with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in SETTINGS.items())
        Path(profile, "user.js").write_text("\n".join(lines))
        command = [path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            found = (re.search(r"WebDriver BiDi listening on (\S+)", line) for line in process.stderr)
            address = next(filter(None, found))[1]
            connection = WebSocketConnection(f"{address}/session", timeout=30, interval=0.01)
            yield Firefox(connection)
            connection.close()
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()
