"""Shapes: the lines of a schema, long texts, and names where there is little room."""

import test_page

# Where a line enters a card, or leaves the picture.
STRAY_LINES = """
    const cards = [...document.querySelectorAll(".schema-entity")].map((each) => ({
      left: each.offsetLeft, top: each.offsetTop, right: each.offsetLeft + each.offsetWidth, bottom: each.offsetTop + each.offsetHeight,
    }));
    const svg = document.querySelector(".schema-picture > svg");
    const found = [];
    for (const path of svg.querySelectorAll("path[data-from]")) {
      for (let place = 0; place <= path.getTotalLength(); place += 3) {
        const { x, y } = path.getPointAtLength(place);
        const isUnder = cards.some((each) => x > each.left + 1 && x < each.right - 1 && y > each.top + 1 && y < each.bottom - 1);
        if (isUnder || x > svg.clientWidth || y > svg.clientHeight || y < 0) {
          found.push(`${path.dataset.from} to ${path.dataset.to} at ${Math.round(x)}, ${Math.round(y)}`);
          break;
        }
      }
    }
    return found;"""


class Shapes(test_page.PageTest):
    name = "web"

    def test_lines_of_the_schema_pass_between_its_entities(self):
        for width, height in test_page.SIZES[1:]:
            self.browser.size(width, height)
            self.browser.go("#/space")
            self.browser.go("#/schema")
            self.assertGreater(len(self.browser.all(".schema-picture path[data-from]")), 5)
            self.assertEqual(self.browser.run(STRAY_LINES), [], width)
            self.check(f"schema at {width}")

    def test_names_can_be_read_where_there_is_little_room(self):
        if test_page.STORES.isMock:
            self.skipTest("the mock draws a timeline of entries alone")
        self.browser.size(400, 800)
        for fragment in ("#/timeline?entity=Person&start=start&label=name", "#/timeline", "#/transactions", "#/stores"):
            self.browser.go(fragment)
            self.check(fragment)
        self.browser.go("#/timeline?entity=Person&start=start&label=name")
        link = self.browser.one(".time-rows a").rect
        self.assertLess(link["height"], 30)


class LongText(test_page.PageTest):
    name = "hostile"

    def test_a_long_text_has_the_width_of_its_column(self):
        for width, height in test_page.SIZES:
            self.browser.size(width, height)
            self.browser.go("#/state/Note%233")
            column = self.browser.one(".object-column").rect["width"]
            text = self.browser.one(".properties .long").rect["width"]
            self.assertGreater(text, column * 0.85, width)
