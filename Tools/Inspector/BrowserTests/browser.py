"""A Chromium that is driven by selenium, with what the tests ask of it."""

import json
import pathlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

LAYOUT = (pathlib.Path(__file__).parent / "layout.js").read_text(encoding="utf-8")


class Browser:
    def __init__(self):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,800", "--lang=en"):
            options.add_argument(argument)
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(30)
        self.size(1280, 800)

    def close(self):
        self.driver.quit()

    def size(self, width, height, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def open(self, address):
        self.driver.get(address)
        self.settle()

    def go(self, fragment, most=10):
        self.driver.execute_script("location.hash = arguments[0]", fragment)
        self.settle(most=most)

    @property
    def fragment(self):
        return self.run("return location.hash")

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def settle(self, least=0.1, most=10):
        """Waits until nothing is being read."""
        time.sleep(least)
        self.wait(lambda: not self.run(
            "return document.querySelector('[aria-busy=true], .loading, .row.unread') !== null"), most, "it is still reading")
        time.sleep(0.05)

    def wait(self, condition, most=10, message="it did not happen"):
        end = time.monotonic() + most
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{message} within {most} s")

    def keys(self, *keys):
        """Presses keys one after another, at whatever has the focus."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        self.settle(0.1)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector="body"):
        """The text that is shown; soft wraps are no breaks."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def layout_faults(self):
        """What is wrong with the layout, and stays so: after a change of size a busy machine takes a while."""
        end = time.monotonic() + 5
        while (faults := self.run(LAYOUT)) and time.monotonic() < end:
            time.sleep(0.1)
        return faults

    def console_faults(self, allowed=()):
        """What the console complains about, without the answers that a test asked to fail."""
        return [each["message"] for each in self.driver.get_log("browser")
                if each["level"] in ("SEVERE", "WARNING") and not any(part in each["message"] for part in allowed)]

    def requested(self):
        """The addresses that were asked for since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def unnamed(self):
        """What can have the focus but has no name for a screen reader."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        found = []
        for node in nodes:
            properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
            role = node.get("role", {}).get("value")
            if node.get("ignored") or not properties.get("focusable") or role in ("RootWebArea", "main", "generic"):
                continue
            if not node.get("name", {}).get("value", "").strip():
                found.append(f"{role} {node.get('backendDOMNodeId')}")
        return found

    def shot(self, path):
        self.driver.save_screenshot(str(path))
