"""The page while another process writes: live, hidden, and in many tabs."""

import test_page


class Live(test_page.PageTest):
    name = "live"

    def test_what_others_write_appears_and_a_pause_holds_it(self):
        self.browser.go("#/state/Entry")
        before = int(self.browser.one(".track").get_attribute("aria-valuemax"))
        self.served.write("Written while shown")
        self.browser.wait(lambda: self.browser.one(".track").get_attribute("aria-valuemax") == str(before + 1), 5)
        self.browser.settle()
        self.browser.wait(lambda: "105" in self.browser.text(".bar-line"), 5)
        self.browser.keys("l")
        self.browser.wait(lambda: "paused" in self.browser.text(".live"), 5)
        self.served.write("Held back")
        self.browser.wait(lambda: "1 new" in self.browser.text(".live"), 5)
        self.assertIn("105", self.browser.text(".bar-line"))
        self.browser.keys("l")
        self.browser.wait(lambda: "106" in self.browser.text(".bar-line"), 5)
        self.browser.go("#/transactions")
        self.served.write("Third")
        self.browser.wait(lambda: "Third" in self.browser.text(".transactions"), 5)
        self.check("live")


class Hidden(test_page.PageTest):
    name = "hidden"

    def hide(self, isHidden):
        self.browser.run("""
            Object.defineProperty(document, "hidden", { value: arguments[0], configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));""", isHidden)

    def test_a_hidden_page_gives_up_its_connection_and_catches_up(self):
        self.browser.go("#/transactions")
        self.browser.wait(lambda: "live" in self.browser.text(".live"), 5)
        self.hide(True)
        self.served.write("Written while hidden")
        self.browser.settle(1)
        self.assertNotIn("Written while hidden", self.browser.text(".transactions"))
        self.hide(False)
        self.browser.wait(lambda: "Written while hidden" in self.browser.text(".transactions"), 5)
        self.check("shown again")


class Tabs(test_page.PageTest):
    name = "tabs"

    def test_eight_tabs_answer_and_follow(self):
        driver = self.browser.driver
        first = driver.current_window_handle
        self.addCleanup(self.close_others, first)
        driver.set_page_load_timeout(15)
        self.addCleanup(driver.set_page_load_timeout, 30)
        for place in range(7):
            driver.switch_to.new_window("tab")
            self.browser.open(self.served.address + "#/transactions")
            self.browser.wait(lambda: self.browser.all(".transaction"), 5, f"tab {place + 2} does not answer")
            self.browser.wait(lambda: "live" in self.browser.text(".live"), 5, f"tab {place + 2} is not live")
        self.served.write("To all tabs")
        for handle in driver.window_handles[1:]:
            driver.switch_to.window(handle)
            self.browser.wait(lambda: "To all tabs" in self.browser.text(".transactions"), 5)

    def close_others(self, first):
        for handle in self.browser.driver.window_handles:
            if handle != first:
                self.browser.driver.switch_to.window(handle)
                self.browser.driver.close()
        self.browser.driver.switch_to.window(first)
