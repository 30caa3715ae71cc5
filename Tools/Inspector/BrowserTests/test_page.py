"""The page in a real browser: every view at every size, addresses, conditions, versions.

Run by `run`, which sets STORES and WHOLE.
"""

import os
import unittest

from browser import Browser
from selenium.webdriver.common.keys import Keys

STORES = None
WHOLE = False
BROWSER = None
SHOTS = os.environ.get("SHOTS")

VIEWS = [
    "#/state/Entry", "#/state/Entry%2354?at=112", "#/state/Entry%2354?versions=60,119",
    "#/state/Entry?by=about&where=about+==+%22travel%22", "#/transactions", "#/transactions?show=1",
    "#/compare?from=60", "#/since?entity=Entry&count=%3E%3D50", "#/timeline", "#/schema", "#/space",
    "#/space?by=month", "#/bytes", "#/bytes/13000", "#/stores",
]
SIZES = [(400, 800), (1280, 800), (2560, 1300)]


def shared_browser():
    """One browser for all tests: starting one takes a second."""
    global BROWSER
    BROWSER = BROWSER or Browser()
    return BROWSER


class PageTest(unittest.TestCase):
    name = "diary"

    @classmethod
    def setUpClass(cls):
        cls.browser = shared_browser()
        cls.served = cls.make()
        cls.browser.open(cls.served.address)

    @classmethod
    def make(cls):
        return STORES.serve(cls.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.run("location.href = 'about:blank'")
        cls.served.close()

    def setUp(self):
        self.browser.size(1280, 800)
        self.browser.console_faults()

    def check(self, fragment, allowed=()):
        with self.subTest(fragment):
            self.assertEqual(self.browser.layout_faults(), [], fragment)
            self.assertEqual(self.browser.console_faults(allowed), [], fragment)


class Views(PageTest):
    def test_every_view_at_every_size_in_both_themes(self):
        """Layout, console, command, names for screen readers, origins. The short form takes sizes and themes in turns."""
        turn = 0
        self.browser.requested()
        for fragment in VIEWS:
            for width, height in SIZES:
                turn += 1
                if not WHOLE and turn % 3 == (turn // 9) % 3:
                    continue
                for dark in (False, True) if WHOLE else (turn % 2 == 0,):
                    self.browser.size(width, height, dark)
                    if WHOLE:
                        self.browser.go("#/schema" if fragment != "#/schema" else "#/space")
                    self.browser.go(fragment)
                    self.check(f"{fragment} at {width}, {'dark' if dark else 'light'}")
                    command = self.browser.text("footer.command")
                    self.assertIn("No command" if "by=month" in fragment else "annals ", command, fragment)
                    if width == 1280:
                        self.assertEqual(self.browser.unnamed(), [], fragment)
                    if SHOTS:
                        plain = "".join(letter if letter.isalnum() else "-" for letter in fragment[2:])
                        self.browser.shot(f"{SHOTS}/{plain}-{width}{'-dark' if dark else ''}.png")
        origin = self.browser.run("return location.origin")
        foreign = [each for each in self.browser.requested() if not each.startswith((origin, "data:", "about:"))]
        self.assertEqual(foreign, [])

    def test_back_and_forward(self):
        self.browser.go("#/state/Entry")
        self.browser.go("#/state/Entry%2354")
        self.browser.go("#/schema")
        self.browser.driver.back()
        self.browser.settle()
        self.assertEqual(self.browser.fragment, "#/state/Entry%2354")
        self.assertIn("clavichord", self.browser.text(".object-title"))
        self.browser.driver.back()
        self.browser.settle()
        self.assertFalse(self.browser.one(".object-column").is_displayed())
        self.browser.driver.forward()
        self.browser.settle()
        self.assertTrue(self.browser.one(".object-column").is_displayed())

    def test_the_moment_rules_the_state(self):
        self.browser.go("#/state/Entry?at=112")
        self.assertIn("98", self.browser.text(".bar-line"))
        self.browser.go("#/state/Entry?at=3")
        self.assertEqual(len(self.browser.all(".rows .row.object")), 2)
        self.assertEqual(self.browser.one(".track").get_attribute("aria-valuenow"), "3")

    def test_a_condition_is_refused_at_its_column(self):
        self.browser.go("#/state/Entry")
        field = self.browser.one(".condition-input")
        field.send_keys('about == "home" AND titel == "x"')
        self.browser.wait(lambda: "column 21" in self.browser.text(".condition-problem"), 5)
        field.clear()
        field.send_keys('about == "travel"', Keys.ENTER)
        self.browser.settle()
        self.assertIn("14 of 104", self.browser.text(".bar-line"))
        self.assertIn("reads", self.browser.text(".plan-place"))
        self.browser.console_faults()

    def test_two_versions_are_compared_within_their_texts(self):
        self.browser.go("#/state/Entry%2354?versions=60,119")
        self.assertIn("The lid fits", self.browser.text(".life-comparison ins"))
        self.assertNotIn("1742", self.browser.text(".life-comparison ins"))

    def test_months_follow_each_other_in_the_picture_of_space(self):
        self.browser.go("#/space?by=month")
        boxes = self.browser.run("""return [...document.querySelectorAll(".box")].map((each) => {
            const { x, y } = each.querySelector("rect").getBBox();
            return [Math.round(y), Math.round(x), each.dataset.name];
        })""")
        months = [name for _, _, name in sorted(boxes)]
        self.assertEqual(months, sorted(months))
        self.assertGreater(len(months), 12)
