"""The page by keyboard alone."""

import test_page
from selenium.webdriver.common.keys import Keys


class KeysAlone(test_page.PageTest):
    def test_an_object_is_found_and_left_by_keys_alone(self):
        self.browser.go("#/state/Entry")
        self.browser.keys("g", Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        self.assertIn("Entry%23", self.browser.fragment)
        self.browser.keys("u")
        self.assertNotIn("%23", self.browser.fragment)

    def test_steps_of_the_moment(self):
        self.browser.go("#/state/Entry?at=50")
        self.browser.keys("[")
        self.assertIn("at=49", self.browser.fragment)
        self.browser.keys("]", "]")
        self.assertIn("at=51", self.browser.fragment)
        self.browser.keys(")")
        number = int(self.browser.fragment.split("at=")[1])
        self.assertGreater(number, 51)
        self.browser.keys("s", Keys.ARROW_LEFT)
        self.assertIn(f"at={number - 1}", self.browser.fragment)
        self.browser.keys(Keys.PAGE_DOWN)
        self.assertLess(int(self.browser.fragment.split("at=")[1]), number - 1)
        self.browser.keys("h")
        self.assertNotIn("at=", self.browser.fragment)

    def test_keys_are_listed(self):
        self.browser.go("#/state/Entry")
        self.browser.keys("?")
        self.assertTrue(self.browser.one("#help").is_displayed())
        self.assertIn("Transaction before", self.browser.text("#help"))
        self.browser.keys(Keys.ESCAPE)
        self.assertFalse(self.browser.one("#help").is_displayed())

    def test_digits_open_views(self):
        for digit, view in enumerate(("state", "transactions", "compare", "since", "timeline", "schema", "space", "bytes"), 1):
            self.browser.keys(str(digit))
            self.assertIn(f"#/{view}", self.browser.fragment)

    def test_the_focus_is_seen(self):
        for fragment in test_page.VIEWS if test_page.WHOLE else test_page.VIEWS[1:12:5]:
            self.browser.go(fragment)
            self.browser.run("document.activeElement?.blur()")
            for _ in range(60 if test_page.WHOLE else 25):
                self.browser.driver.switch_to.active_element.send_keys(Keys.TAB)
                seen = self.browser.run("""
                    const style = getComputedStyle(document.activeElement);
                    return document.activeElement === document.body || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 1);""")
                self.assertTrue(seen, fragment)
