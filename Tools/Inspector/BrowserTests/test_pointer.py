"""The page by pointer: the slider, tables, filters, pictures and bytes."""

import test_page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import Select


class Pointer(test_page.PageTest):
    def drag(self, element, start, end, y=0):
        """From one part of the width of an element to another."""
        width = element.size["width"]
        actions = ActionChains(self.browser.driver, duration=40)
        actions.move_to_element_with_offset(element, int(width * (start - 0.5)), y).click_and_hold()
        for step in range(1, 6):
            actions.move_to_element_with_offset(element, int(width * (start + (end - start) * step / 5 - 0.5)), y)
        actions.release().perform()
        self.browser.settle(0.3)

    def click_at(self, element, part, y=0):
        offset = int(element.size["width"] * (part - 0.5))
        ActionChains(self.browser.driver).move_to_element_with_offset(element, offset, y).click().perform()
        self.browser.settle(0.3)

    def moment(self):
        return int(self.browser.one(".track").get_attribute("aria-valuenow"))

    def test_a_click_on_the_slider_shows_that_moment(self):
        self.browser.go("#/state/Entry?axis=number")
        track = self.browser.one(".track")
        self.click_at(track, 0.5, -10)
        self.assertAlmostEqual(self.moment(), 60, delta=2)
        self.browser.go("#/state/Entry")
        self.click_at(self.browser.one(".track"), 0.25, -10)
        self.assertTrue(20 < self.moment() < 40, self.moment())
        self.assertIn(str(self.moment()), self.browser.fragment)

    def test_the_handle_is_dragged(self):
        self.browser.go("#/state/Entry?axis=number&at=60")
        self.drag(self.browser.one(".track"), 59.5 / 119, 0.25, 20)
        self.assertAlmostEqual(self.moment(), 30, delta=2)
        self.browser.driver.back()
        self.browser.settle()
        self.assertEqual(self.moment(), 60)

    def test_a_brush_zooms_and_the_whole_comes_back(self):
        self.browser.go("#/transactions?axis=number")
        self.drag(self.browser.one(".track"), 0.25, 0.5, -15)
        self.assertRegex(self.browser.fragment, r"zoom=(29|30|31)\.\.(59|60|61)")
        numbers = [int(each.get_attribute("data-number")) for each in self.browser.all(".transaction")]
        self.assertTrue(all(28 <= each <= 61 for each in numbers), numbers)
        self.assertGreater(len(numbers), 20)
        self.browser.keys("-", "-", "-", "-")
        self.assertNotIn("zoom", self.browser.fragment)

    def test_a_table_is_sorted_narrowed_and_grouped(self):
        self.browser.go("#/state/Entry")
        header = [each for each in self.browser.all("[role=columnheader] button") if each.text.startswith("title")][0]
        header.click()
        self.browser.settle()
        self.assertIn("sort=title", self.browser.fragment)
        self.assertIn("A cold", self.browser.text(".rows .row.object"))
        self.browser.one("summary.button").click()
        self.browser.one("[data-column=note]").click()
        self.browser.settle()
        self.assertIn("columns=", self.browser.fragment)
        self.assertNotIn("note", self.browser.text(".grid .head"))
        Select(self.browser.one(".choices select")).select_by_value("about")
        self.browser.settle()
        self.assertIn("travel", self.browser.text(".groups"))
        [each for each in self.browser.all(".bar-name") if each.text == "travel"][0].click()
        self.browser.settle()
        self.assertIn("14 of 104", self.browser.text(".bar-line"))
        self.check("grouped")

    def test_a_column_is_resized(self):
        self.browser.go("#/state/Entry")
        grip = self.browser.all(".grip")[1]
        cell = self.browser.all(".grid .head > *")[1]
        before = cell.size["width"]
        ActionChains(self.browser.driver).click_and_hold(grip).move_by_offset(-60, 0).release().perform()
        self.assertAlmostEqual(cell.size["width"], before - 60, delta=4)
        self.browser.run("localStorage.clear()")

    def test_filters_narrow_the_transactions(self):
        self.browser.go("#/transactions")
        Select(self.browser.one("[name=author]")).select_by_value("Ben")
        self.browser.settle()
        self.assertNotIn("Ann", self.browser.text(".transactions"))
        Select(self.browser.one("[name=type]")).select_by_value("update")
        self.browser.settle()
        self.assertEqual(len(self.browser.all(".transaction .sign.insert")), 0)
        self.browser.one(".filters button").click()
        self.browser.settle()
        self.assertNotIn("author", self.browser.fragment)

    def test_older_transactions_come_as_one_scrolls(self):
        self.browser.go("#/transactions")
        for _ in range(6):
            self.browser.run("const l = document.querySelector('.transaction-list'); l.scrollTop = l.scrollHeight")
            self.browser.settle(0.3)
        self.assertEqual(len(self.browser.all(".transaction")), 119)
        self.assertIn("begins here", self.browser.text(".foot"))

    def test_a_bar_of_the_timeline_opens_its_object(self):
        self.browser.go("#/timeline")
        self.browser.wait(lambda: self.browser.all("[data-index]"), 5)
        bar = self.browser.one(".bar-ongoing polygon")
        ActionChains(self.browser.driver).move_to_element(bar).perform()
        self.assertTrue(self.browser.one(".timeline-hover").is_displayed())
        ActionChains(self.browser.driver).click(bar).perform()
        self.browser.settle()
        self.assertIn("#/state/Entry%23", self.browser.fragment)

    def test_the_timeline_pans_and_zooms(self):
        self.browser.go("#/timeline")
        self.browser.wait(lambda: self.browser.all("[data-index]"), 5)
        ticks = self.browser.text(".timeline-axis")
        self.browser.keys("i", "i", "i")
        self.assertNotEqual(self.browser.text(".timeline-axis"), ticks)
        zoomed = self.browser.text(".timeline-axis")
        self.assertEqual(self.browser.layout_faults(), [])
        self.browser.wait(lambda: "window=" in self.browser.fragment, 3)
        shared = self.browser.fragment
        self.browser.go("#/schema")
        self.browser.go(shared)
        self.browser.wait(lambda: self.browser.text(".timeline-axis") == zoomed, 5)
        self.browser.keys("0")
        self.assertEqual(self.browser.text(".timeline-axis"), ticks)

    def test_bytes_fields_and_text_are_tied(self):
        self.browser.go("#/bytes/13000")
        row = self.browser.all(".field-row")[1]
        ActionChains(self.browser.driver).move_to_element(row).perform()
        lit = self.browser.all(".digits .lit")
        self.assertGreater(len(lit), 0)
        self.assertEqual(len(lit), len(self.browser.all(".letters .lit")))
        ActionChains(self.browser.driver).move_to_element(self.browser.all(".digits span")[1]).perform()
        self.assertEqual(len(self.browser.all(".field-row.lit")), 1)
        self.assertTrue(self.browser.text(".hex-said"))

    def test_a_place_of_the_strip_is_shown(self):
        self.browser.go("#/bytes")
        self.browser.wait(lambda: self.browser.all(".strip-picture"), 5)
        self.click_at(self.browser.one(".strip-picture"), 0.9)
        offset = int(self.browser.fragment.split("/")[-1])
        self.assertGreater(offset, 12288)
        self.assertEqual(len(self.browser.all(".region-row[aria-current]")), 1)

    def test_the_theme_is_switched_and_kept(self):
        self.browser.go("#/schema")
        before = self.browser.run("return getComputedStyle(document.documentElement).backgroundColor")
        self.browser.one("#theme").click()
        after = self.browser.run("return getComputedStyle(document.documentElement).backgroundColor")
        self.assertNotEqual(before, after)
        self.browser.run("localStorage.clear(); delete document.documentElement.dataset.theme")

    def test_two_versions_are_chosen(self):
        self.browser.go("#/state/Entry%2354")
        for button in self.browser.all(".version .choose"):
            button.click()
        self.browser.settle()
        self.assertIn("versions=", self.browser.fragment)
        self.assertIn("The lid fits", self.browser.text(".life-comparison ins"))

    def test_a_reference_leads_to_its_object_and_back_to_who_refers(self):
        self.browser.go("#/state/Entry%2354")
        self.browser.one(".properties .value a").click()
        self.browser.settle()
        self.assertIn("Place%23", self.browser.fragment)
        self.assertIn("Entry.place", self.browser.text(".referrers"))
        self.browser.one(".referrers summary").click()
        self.browser.settle()
        self.assertIn("Building a clavichord", self.browser.text(".referrers"))

    def test_the_life_of_one_property(self):
        self.browser.go("#/state/Entry%2354")
        self.browser.one("[data-property=note]").click()
        self.browser.settle()
        self.assertIn("property=note", self.browser.fragment)
        self.assertIn("Life of note: 2 of 2", self.browser.text(".life-title"))
        self.assertNotIn("isOngoing", self.browser.text(".versions"))
        self.browser.one("[data-property=place]").click()
        self.browser.settle()
        self.assertEqual(len(self.browser.all(".version")), 1)
