"""The page on files of every kind: hostile, huge, damaged, empty, foreign, read-only, replaced."""

import os
import signal
import time
import unittest

import test_page
from selenium.webdriver.common.keys import Keys
from stores import DIARY, HOSTILE, MockServed, Served


class Hostile(test_page.PageTest):
    name = "hostile"

    def test_markup_is_text(self):
        for fragment in ("#/state/Note", "#/state/Note%231", "#/state/Note%233", "#/transactions", "#/transactions?show=5",
                         "#/compare?from=1", "#/schema", "#/space"):
            for width, height in test_page.SIZES if test_page.WHOLE else test_page.SIZES[:2]:
                self.browser.size(width, height)
                self.browser.go(fragment)
                self.check(f"{fragment} at {width}")
                self.assertEqual(self.browser.all("main script, main img"), [])
                self.assertNotEqual(self.browser.driver.title, "owned")
        self.browser.go("#/transactions?show=1")
        self.assertIn(HOSTILE, self.browser.text(".transaction-column"))

    def test_a_long_text_is_shown_whole_on_demand(self):
        self.browser.size(1280, 800)
        self.browser.go("#/state/Note%233")
        button = self.browser.one(".object-body .value button")
        self.assertIn("Show all", button.text)
        button.click()
        self.browser.wait(lambda: self.browser.run(
            "return (document.querySelector('.value.whole')?.textContent.length ?? 0)") > 19000, 5)
        self.check("whole text")


class Million(test_page.PageTest):
    """Always on the mock, since it is about the page."""

    rows = 1_000_000

    @classmethod
    def make(cls):
        return MockServed(DIARY, rows=cls.rows)

    def first_row(self):
        return self.browser.run("""
            const grid = document.querySelector(".grid");
            const top = grid.getBoundingClientRect().top + grid.querySelector(".head").offsetHeight;
            const row = [...grid.querySelectorAll(".row.object")].map((each) => [each.getBoundingClientRect().top - top, each.innerText])
              .filter(([place]) => place > -20).sort((first, second) => first[0] - second[0])[0];
            return [Math.round(row[0]), Number(row[1].replace(/\\D/g, ""))];""")

    def test_scrolling_does_not_jump(self):
        self.browser.go("#/state/Entry")
        height = self.browser.run("return document.querySelector('.rows .row').offsetHeight")
        for part in (0.3, 0.5, 0.9):
            self.browser.run("const g = document.querySelector('.grid'); g.scrollTop = g.scrollHeight * arguments[0]", part)
            self.browser.settle(0.5)
            place, number = self.first_row()
            self.assertAlmostEqual(number / self.rows, part, delta=0.02)
            for _ in range(12):
                self.browser.run("document.querySelector('.grid').scrollTop += 40")
                time.sleep(0.05)
            self.browser.settle(0.5)
            after, later = self.first_row()
            self.assertAlmostEqual((later - number) * height - (place - after) * -1, 480, delta=4)

    def test_both_ends_by_keys(self):
        self.browser.go("#/state/Entry")
        self.browser.keys("g", Keys.END)
        self.browser.wait(lambda: f"row {self.rows - 1}" in self.browser.text(".grid"), 5)
        self.browser.keys(Keys.HOME)
        self.browser.wait(lambda: "row 0" in self.browser.text(".grid"), 5)
        self.assertLess(len(self.browser.all(".rows .row")), 100)


class Huge(test_page.PageTest):
    """A history of a million transactions; only in the long form."""

    name = "huge"

    @classmethod
    def setUpClass(cls):
        if test_page.STORES.isMock or not test_page.WHOLE:
            raise unittest.SkipTest("it needs annals-serve, and --whole")
        super().setUpClass()

    def test_every_view(self):
        for fragment, text in (
                ("#/state/Entry", "100,000"), ("#/state/Entry?at=500000", "50,000"), ("#/state/Entry%2350000", "Entry"),
                ("#/state/Entry%237?at=999999", "author"), ("#/transactions", "1,000,000"),
                ("#/transactions?show=500000", "author 0"), ("#/compare?from=999000", "Entry"),
                ("#/since?entity=Entry&count=%3E%3D50000", "499,991"), ("#/timeline", "Entry"), ("#/schema", "Entry"),
                ("#/space", "Entry"), ("#/bytes", "transactions"), ("#/stores", "huge")):
            # Space and findings read the whole file.
            self.browser.go(fragment, most=60)
            self.browser.wait(lambda: text in self.browser.text(), 10, f"{fragment} does not show {text}")
            self.check(fragment)

    def test_the_slider_goes_anywhere(self):
        self.browser.go("#/state/Entry")
        track = self.browser.one(".track")
        for key, number in ((Keys.HOME, 0), (Keys.END, 1_000_000), (Keys.ARROW_LEFT, 999_999)):
            track.send_keys(key)
            self.browser.wait(
                lambda: int(track.get_attribute("aria-valuenow")) == number, 10, f"{key!r} does not lead to {number}")
        # Before the first transaction there is no entity.
        self.check("the slider", ("404",))


class Damaged(test_page.PageTest):
    @classmethod
    def make(cls):
        return test_page.STORES.damaged()

    def test_the_bytes_open_with_findings_and_the_way_to_salvage(self):
        for width, height in test_page.SIZES:
            self.browser.size(width, height)
            self.browser.go("#/bytes")
            self.browser.wait(lambda: "1 error" in self.browser.text(".findings") or "errors" in self.browser.text(".findings"), 10)
            self.assertIn("annals salvage", self.browser.text(".findings"))
            self.browser.one(".finding-list a").click()
            self.browser.settle()
            self.assertNotEqual(self.browser.fragment, "#/bytes")
            self.check(f"bytes at {width}", ("422",))
        self.browser.go("#/state")
        self.browser.settle()
        self.check("state of a damaged file", ("422",))


class DamagedHistory(test_page.PageTest):
    """The newest state opens, the history does not. On the mock, since it is about the page."""

    @classmethod
    def make(cls):
        served = MockServed(DIARY)
        served.handler.isHistoryDamaged = True
        return served

    def test_every_view_tells_the_damage_whole(self):
        for fragment in ("#/state/Entry", "#/transactions", "#/schema"):
            for width, height in test_page.SIZES:
                self.browser.size(width, height, dark=width == 1280)
                self.browser.go(fragment)
                banner = self.browser.text("#banner")
                self.assertIn("annals salvage mock.annals saved.annals", banner)
                self.assertIn("Ask again", banner)
                self.assertEqual(self.browser.text(".live"), "damaged")
                self.assertEqual(self.browser.text(".slider .notice"), "")
                self.check(f"{fragment} at {width}", ("422",))


class Empty(test_page.PageTest):
    name = "empty"

    def test_every_view_says_that_there_is_nothing(self):
        for fragment in ("#/state", "#/state/Post", "#/transactions", "#/compare", "#/since", "#/timeline", "#/schema", "#/space", "#/bytes"):
            for width, height in test_page.SIZES if test_page.WHOLE else test_page.SIZES[:1]:
                self.browser.size(width, height)
                self.browser.go(fragment)
                self.check(f"{fragment} at {width}")


class Files(unittest.TestCase):
    """Files that a real server refuses, or may only read."""

    def setUp(self):
        if test_page.STORES.isMock:
            self.skipTest("it needs annals-serve")
        self.browser = test_page.shared_browser()

    def shows(self, served, text, fragment="#/bytes"):
        self.addCleanup(served.close)
        self.browser.open(served.address)
        self.browser.go(fragment)
        self.browser.wait(lambda: text in self.browser.text(), 10, f"{text!r} is not shown")
        if "state" not in fragment:
            self.assertNotIn("annals salvage", self.browser.text("main"))
        self.assertEqual(self.browser.layout_faults(), [])

    def test_a_file_that_is_no_store(self):
        self.shows(test_page.STORES.raw("foreign.annals", b"SQLite format 3\0" + bytes(5000)), "is not an Annals store")

    def test_a_folder_gives_no_useless_advice(self):
        folder = test_page.STORES.folder / "mixed"
        folder.mkdir(exist_ok=True)
        (folder / "diary.annals").write_bytes(test_page.STORES.file("diary").read_bytes())
        (folder / "foreign.annals").write_bytes(b"SQLite format 3\0" + bytes(5000))
        (folder / "nothing.annals").write_bytes(b"")
        self.shows(Served(*test_page.STORES.programs, folder), "is not an Annals store", "#/stores")

    def test_an_empty_file(self):
        self.shows(test_page.STORES.raw("nothing.annals", b""), "has no bytes")

    def test_a_file_that_may_only_be_read(self):
        path = test_page.STORES.folder / "readonly.annals"
        path.write_bytes(test_page.STORES.file("diary").read_bytes())
        path.chmod(0o444)
        self.shows(test_page.STORES.serve_path(path), "clavichord", "#/state/Entry%2354")

    def test_a_file_that_is_replaced_while_it_is_shown(self):
        path = test_page.STORES.folder / "replaced.annals"
        path.write_bytes(test_page.STORES.file("diary").read_bytes())
        served = test_page.STORES.serve_path(path)
        self.shows(served, "clavichord", "#/state/Entry%2354")
        other = test_page.STORES.folder / "other.annals"
        other.write_bytes(test_page.STORES.file("hostile").read_bytes())
        self.browser.go("#/schema")
        os.replace(other, path)
        self.browser.wait(lambda: "Note" in self.browser.text(), 15, "the other store is not shown")

    def test_a_file_that_is_cut_off_while_it_is_shown(self):
        path = test_page.STORES.folder / "cut.annals"
        path.write_bytes(test_page.STORES.file("diary").read_bytes())
        self.shows(test_page.STORES.serve_path(path), "clavichord", "#/state/Entry%2354")
        with open(path, "r+b") as file:
            file.truncate(9000)
        self.browser.wait(lambda: "annals salvage" in self.browser.text("#banner"), 15, "what helps is not shown")
        self.assertEqual(self.browser.text(".live"), "damaged")
        self.assertEqual(self.browser.layout_faults(), [])

    def test_signals_end_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            served = test_page.STORES.serve("diary")
            self.addCleanup(served.close)
            served.process.send_signal(number)
            self.assertEqual(served.process.wait(10), 0, f"after {number.name}")
