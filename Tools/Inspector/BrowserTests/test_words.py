"""What the page says: values that look alike, moments in the past, sentences and commands."""

import test_page
from selenium.webdriver.common.keys import Keys


class Values(test_page.PageTest):
    name = "hostile"

    def test_controls_are_escaped_and_marked(self):
        self.browser.go("#/state/Note%234")
        for place in (".object-title h2", ".properties", ".versions", ".rows"):
            self.assertIn("\\u{202E}right to left\\u{202C}", self.browser.text(place), place)
        self.assertGreater(len(self.browser.all(".properties .control")), 1)
        for fragment in ("#/transactions", "#/state/Note", "#/compare?from=1"):
            self.browser.go(fragment)
            self.assertIsNone(self.browser.run("return /[\\u202a-\\u202e]/.exec(document.body.innerText)?.[0]"), fragment)
            self.assertFalse(self.browser.run(
                "return [...document.querySelectorAll('[title]')].some((each) => /[\\u202a-\\u202e]/.test(each.title))"))
        self.check("escaped")

    def test_an_empty_text_is_not_nil(self):
        self.browser.go("#/state/Note%2310?at=19")
        self.assertIn('""', self.browser.text(".properties"))
        self.assertIn('""', self.browser.text(".rows .row[aria-selected=true]"))
        self.assertIn('""', self.browser.text(".versions"))


class Moments(test_page.PageTest):
    def test_a_field_takes_the_moment(self):
        self.browser.go("#/state/Entry")
        self.browser.keys("m")
        for text, number in (("60", 60), ("117" if test_page.STORES.isMock else "head~2", 117)):
            field = self.browser.one("[name=moment]")
            field.clear()
            field.send_keys(text, Keys.ENTER)
            self.browser.wait(lambda: self.browser.one(".track").get_attribute("aria-valuenow") == str(number), 5, text)
        field.clear()
        field.send_keys("nonsense", Keys.ENTER)
        self.browser.wait(lambda: self.browser.one(".moment-problem").is_displayed(), 5)
        self.assertIn("at=117", self.browser.fragment)
        for width, height in test_page.SIZES:
            self.browser.size(width, height)
            self.check(f"moment field at {width}", ("400",))
        field.send_keys(Keys.ESCAPE)

    def test_a_date_is_the_last_transaction_not_after_it(self):
        self.browser.go("#/state/Entry?at=60")
        day = self.browser.run("return /\\d{4}-\\d\\d-\\d\\d/.exec(document.querySelector('.readout').innerText)[0]")
        field = self.browser.one("[name=moment]")
        field.clear()
        field.send_keys(day, Keys.ENTER)
        self.browser.settle(0.5)
        number = int(self.browser.one(".track").get_attribute("aria-valuenow"))
        self.assertGreaterEqual(number, 60)
        self.assertIn(day, self.browser.text(".readout"))

    def test_newer_transactions_are_told(self):
        self.browser.go("#/transactions?at=60")
        self.assertIn("59 newer transactions are not shown", self.browser.text(".newer"))
        self.browser.one(".newer button").click()
        self.browser.settle()
        self.assertNotIn("at=", self.browser.fragment)
        self.assertFalse(self.browser.one(".newer").is_displayed())

    def test_filters_end_with_no_more_match(self):
        self.browser.go("#/transactions?at=60&type=delete")
        self.assertNotIn("begins here", self.browser.text(".foot"))
        self.browser.go("#/transactions?at=118&author=Ben")
        self.browser.run("const l = document.querySelector('.transaction-list'); l.scrollTop = l.scrollHeight")
        self.browser.wait(lambda: "No more match" in self.browser.text(".foot"), 5)

    def test_a_transaction_of_an_address_is_in_the_list(self):
        self.browser.go("#/transactions")
        self.browser.go("#/schema")
        self.browser.go("#/transactions?show=5")
        self.assertEqual(self.browser.one(".transaction.present").get_attribute("data-number"), "5")
        self.assertIn("The list begins at 24", self.browser.text(".newer"))
        self.browser.one(".newer button").click()
        self.browser.settle()
        self.assertEqual(self.browser.one(".transaction").get_attribute("data-number"), "119")
        self.assertFalse(self.browser.one(".newer").is_displayed())

    def test_a_filter_by_property_shows_that_property(self):
        self.browser.go("#/transactions?property=note")
        names = {each.text for each in self.browser.all(".transaction .changes dt") if each.text}
        self.assertEqual(names, {"note"})
        for summary in self.browser.all(".transaction .closed-change > summary"):
            self.assertTrue(summary.text.startswith("note "), summary.text)

    def test_a_condition_that_is_too_long_says_so(self):
        if test_page.STORES.isMock:
            self.skipTest("it needs annals-serve")
        self.browser.go("#/state/Entry?where=" + "title+==+%22x%22+OR+" * 3000 + "title+==+%22y%22")
        self.browser.wait(lambda: "too long" in self.browser.text("main"), 5)
        self.browser.console_faults()

    def test_a_word_is_found_in_texts(self):
        if test_page.STORES.isMock:
            self.skipTest("it needs annals-serve")
        self.browser.go("#/state/Entry?where=tokyo")
        self.browser.wait(lambda: "Find “tokyo” in title" in self.browser.text(".condition-problem"), 5)
        self.browser.console_faults()
        self.browser.all(".condition-problem button")[0].click()
        self.browser.wait(lambda: "CONTAINS[cd]" in self.browser.text("footer.command"), 5)
        self.browser.wait(lambda: "okyo" in self.browser.text(".rows"), 5)
        self.browser.go("#/state/Entry?where=title+==+tokyo")
        self.browser.wait(lambda: "column" in self.browser.text(".condition-problem"), 5)
        self.assertEqual(self.browser.all(".condition-problem button"), [])
        self.browser.console_faults()

    def test_a_number_with_separators_is_one(self):
        if test_page.STORES.isMock:
            self.skipTest("it needs annals-serve")
        self.browser.go("#/state/Entry")
        field = self.browser.one("[name=moment]")
        field.send_keys("1,000", Keys.ENTER)
        self.browser.wait(lambda: "no transaction 1000" in self.browser.text(".moment-problem"), 5)
        field.clear()
        field.send_keys("2015", Keys.ENTER)
        self.browser.wait(lambda: "write 2015-12 for the year" in self.browser.text(".moment-problem"), 5)
        self.browser.console_faults()

    def test_a_command_is_that_of_the_view(self):
        if test_page.STORES.isMock:
            self.skipTest("it needs annals-serve")
        self.browser.go("#/state/Entry?by=about")
        self.browser.wait(lambda: "--group-by about" in self.browser.text("footer.command"), 5)
        self.browser.go("#/state/Entry?where=foo+==+1")
        self.browser.wait(lambda: "without the condition" in self.browser.text("footer.command"), 5)
        self.assertNotIn("foo", self.browser.text("footer.command code"))
        self.assertEqual(self.browser.text(".condition-problem").count("column 1"), 1)
        self.browser.console_faults()
        for by in ("author", "month"):
            self.browser.go(f"#/space?by={by}")
            self.assertEqual(self.browser.all("footer.command code"), [])
            self.assertIn("No command", self.browser.text("footer.command"))


class Since(test_page.PageTest):
    def test_no_says_that_it_is_not_so(self):
        self.browser.go("#/since?object=Entry%2354&where=title+==+%22never%22")
        self.assertIn("does not meet the condition", self.browser.text(".since-words"))
        self.browser.go("#/since?object=Entry%2354&where=title+!=+%22never%22")
        self.assertIn("meets the condition", self.browser.text(".since-words"))
        self.browser.go("#/since?entity=Entry&count=%3E%3D5000")
        self.assertIn("No: there are not at least 5000 of Entry", self.browser.text(".since-words"))

    def test_a_moment_in_the_past_is_told(self):
        self.browser.go("#/since?entity=Entry&count=%3E%3D5&at=100")
        self.assertIn("19 newer transactions not asked", self.browser.text(".since-result"))
        self.check("since of the past")
        self.browser.go("#/since?entity=Entry&count=%3E%3D5")
        self.assertNotIn("not asked", self.browser.text(".since-result"))


class Gone(test_page.PageTest):
    name = "lives"

    def test_a_deleted_object_has_its_own_sentence(self):
        self.browser.go("#/since?object=Note%232&where=title+==+%22x%22")
        self.assertIn("is gone: deleted in transaction", self.browser.text(".since-words"))

    def test_a_life_shows_the_version_of_an_old_moment(self):
        self.browser.go("#/state/Note%231?at=50")
        present = self.browser.wait(lambda: self.browser.all(".version.present"), 5)[0]
        self.assertEqual(present.get_attribute("data-number"), "50")
        column = self.browser.one(".life-column").rect
        self.assertTrue(column["y"] <= present.rect["y"] < column["y"] + column["height"], (column, present.rect))
        self.assertIn("Life: 250 versions", self.browser.text(".life-title"))
        self.browser.go("#/state/Note%231")
        self.browser.wait(lambda: "Life: 250 versions" in self.browser.text(".life-title"), 5)
        self.check("a long life")
