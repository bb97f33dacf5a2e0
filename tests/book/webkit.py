"""WebKit as Linux has it, driven by Selenium on a screen that is only in memory."""

import os
import shutil
import subprocess
import warnings
from contextlib import contextmanager

from selenium.webdriver import WebKitGTK, WebKitGTKOptions
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.webkitgtk.service import Service


class WebKit:
    """One window: goes to an address, runs scripts in the page, presses keys and the mouse."""

    def __init__(self, driver):
        self.driver = driver
        self.driver.set_script_timeout(30)

    def resize(self, width, height):
        """Make the page this large; the window is larger by its frame."""
        self.driver.set_window_size(width, height)
        inside = self.run("() => [innerWidth, innerHeight]")
        self.driver.set_window_size(2 * width - inside[0], 2 * height - inside[1])

    def go(self, address):
        self.driver.get(address)

    def run(self, function, *arguments):
        """Call a function in the page, and return what it returns, or what its promise brings."""
        return self.driver.execute_script(f"return ({function})(...arguments)", *arguments)

    def press(self, key):
        ActionChains(self.driver, duration=0).send_keys(key).perform()

    def click(self, x, y):
        actions = ActionChains(self.driver, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y)).click()
        actions.perform()

    def picture(self):
        return self.driver.get_screenshot_as_png()


@contextmanager
def screen(width, height):
    """A display that nobody sees; the driver and its browser find it by DISPLAY."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield f":{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@contextmanager
def webkit(path):
    """Start the browser that comes with WebKitGTK."""
    options = WebKitGTKOptions()
    options.binary_location = path
    options.add_argument("--automation")
    with screen(1400, 1100) as display:
        surroundings = os.environ | {"DISPLAY": display, "GDK_BACKEND": "x11"}
        service = Service(shutil.which("WebKitWebDriver"), env=surroundings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Selenium's own, of a name it uses itself
            driver = WebKitGTK(options=options, service=service)
        try:
            yield WebKit(driver)
        finally:
            driver.quit()
