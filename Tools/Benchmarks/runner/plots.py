"""Writes plots as SVG that can be read on a light and on a dark page."""
import math

STYLE = """
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}
.small{font-size:11px}.title{font-size:15px;font-weight:600}.axis{stroke:#8c959f;stroke-width:1}
.grid{stroke:#8c959f;stroke-opacity:.28;stroke-width:1}.strong{stroke-opacity:.9}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}}
"""
# A colour and a shape for each program; colours alone would not do for everybody.
MARKS = {
    "Annals": ("#e4572e", "circle"), "SQLite": ("#4c8dd6", "square"),
    "GRDB": ("#2aa198", "triangle"), "LMDB": ("#9a6fd0", "diamond"),
    "RocksDB": ("#b58900", "cross"),
}
COLOURS = ["#e4572e", "#4c8dd6", "#2aa198", "#9a6fd0", "#b58900", "#d4649a", "#6a994e", "#8c6d5a",
           "#5c7cfa", "#868e96", "#17a2b8", "#c2255c"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


class Picture:
    """Elements of a picture of this size, in pixels."""

    def __init__(self, width, height, title):
        self.width = width
        self.height = height
        self.parts = [f"<title>{escaped(title)}</title>", f"<style>{STYLE}</style>"]

    def text(self, x, y, text, anchor="start", classes="", colour=None):
        style = f' style="fill:{colour}"' if colour else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}"{style}>'
            f"{escaped(text)}</text>")

    def line(self, x1, y1, x2, y2, classes="grid"):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>')

    def path(self, points, colour):
        path = " ".join(f"{'L' if i else 'M'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
        self.parts.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')

    def mark(self, x, y, colour, shape, size=5):
        s = size
        if shape == "circle":
            shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" fill="{colour}"/>'
        elif shape == "square":
            shape = (f'<rect x="{x - s + .5:.1f}" y="{y - s + .5:.1f}" width="{2 * s - 1}" '
                     f'height="{2 * s - 1}" fill="{colour}"/>')
        elif shape == "cross":
            shape = (f'<path d="M{x - s:.1f} {y - s:.1f}l{2 * s} {2 * s}m0 {-2 * s}l{-2 * s} '
                     f'{2 * s}" stroke="{colour}" stroke-width="3"/>')
        else:
            points = [(0, -s - 1), (s + 1, s), (-s - 1, s)]
            if shape == "diamond":
                points = [(0, -s - 1), (s + 1, 0), (0, s + 1), (-s - 1, 0)]
            text = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in points)
            shape = f'<polygon points="{text}" fill="{colour}"/>'
        self.parts.append(shape)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
                f' width="{self.width}" height="{self.height}">\n' + "\n".join(self.parts)
                + "\n</svg>\n")


def times(x):
    """A ratio as an axis says it."""
    return f"{x:.4g}×" if x >= 0.999 else f"1/{1 / x:.4g}"


def power(x):
    """A power of ten, with its exponent raised."""
    exponent = round(math.log10(x))
    digits = str(abs(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "10" + ("⁻" if exponent < 0 else "") + digits


def plain(x):
    return power(x) if x >= 1000 or x < 0.001 else f"{x:g}"


def decades(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def steps(low, high):
    """Ticks from below `low` to above `high`: decades, or halves of them where there are few."""
    ticks = decades(low, high)
    if len(ticks) > 3:
        return ticks
    ticks = sorted(t * k for t in ticks for k in (1, 2, 5))
    first = max(i for i, t in enumerate(ticks) if t <= low)
    last = min(i for i, t in enumerate(ticks) if t >= high)
    return ticks[first:last + 1]


def dots(path, title, note, rows):
    """A row of dots for each measurement: what each program took, SQLite being 1; logarithmic.
    `rows` are labels with a ratio for each program."""
    rows = [(label, {k: v for k, v in ratios.items() if v}) for label, ratios in rows]
    values = [v for _, ratios in rows for v in ratios.values()]
    ticks = steps(min(values) / 1.15, max(values) * 1.15)
    left, right, top, step = 250, 660, 74, 26
    bottom = top + step * len(rows)
    picture = Picture(700, bottom + 42, title)
    picture.text(14, 24, title, classes="title")
    x = 14
    for name, (colour, shape) in MARKS.items():
        if any(name in ratios for _, ratios in rows):
            picture.mark(x + 6, 44, colour, shape)
            picture.text(x + 16, 48, name)
            x += 34 + 8 * len(name)

    def place(value):
        span = math.log10(ticks[-1] / ticks[0])
        return left + (right - left) * math.log10(value / ticks[0]) / span

    for tick in ticks:
        picture.line(place(tick), top - 8, place(tick), bottom - 6,
                     "grid strong" if tick == 1 else "grid")
        picture.text(place(tick), bottom + 12, times(tick), "middle", "small")
    picture.text(right, bottom + 32, note, "end", "small")
    for index, (label, ratios) in enumerate(rows):
        y = top + step * index + 6
        picture.text(left - 12, y + 4, label, "end")
        picture.line(left, y, right, y)
        for name in reversed(list(MARKS)):
            if name in ratios:
                picture.mark(place(ratios[name]), y, *MARKS[name])
    picture.write(path)


def panels(path, title, x_label, parts):
    """Panels side by side, log-log: each a heading and lines: a name, a colour and points."""
    width, height, top = 430, 360, 62
    picture = Picture(width * len(parts), top + height + 46, title)
    picture.text(14, 24, title, classes="title")
    for number, (heading, lines) in enumerate(parts):
        left, right = width * number + 52, width * (number + 1) - 118
        xs = [x for _, _, points in lines for x, _ in points]
        ys = [y for _, _, points in lines for _, y in points]
        x_ticks, y_ticks = decades(min(xs), max(xs)), decades(min(ys), max(ys))

        def place(x, y):
            across = math.log10(x / x_ticks[0]) / math.log10(x_ticks[-1] / x_ticks[0])
            up = math.log10(y / y_ticks[0]) / math.log10(y_ticks[-1] / y_ticks[0])
            return left + (right - left) * across, top + height * (1 - up)

        picture.text(left - 38, top - 14, heading)
        for tick in x_ticks:
            x, _ = place(tick, y_ticks[0])
            picture.line(x, top, x, top + height)
            picture.text(x, top + height + 16, plain(tick), "middle", "small")
        for tick in y_ticks:
            _, y = place(x_ticks[0], tick)
            picture.line(left, y, right, y)
            picture.text(left - 6, y + 4, plain(tick), "end", "small")
        picture.text((left + right) / 2, top + height + 36, x_label, "middle", "small")
        labels = []
        for name, colour, points in lines:
            picture.path([place(*point) for point in points], colour)
            for point in points:
                picture.mark(*place(*point), colour, "circle", 3)
            labels.append((place(*points[-1])[1], name, colour))
        label(picture, right + 8, top, top + height, labels)
    picture.write(path)


def label(picture, x, top, bottom, labels):
    """Names lines at their ends, moved apart where they would lie on one another."""
    labels = sorted(labels)
    ys = []
    for y, _, _ in labels:
        ys.append(max(y, ys[-1] + 15) if ys else y)
    excess = ys[-1] - bottom
    if excess > 0:
        ys[-1] = bottom
        for i in range(len(ys) - 2, -1, -1):
            ys[i] = min(ys[i], ys[i + 1] - 15)
    for y, (_, name, colour) in zip(ys, labels):
        picture.text(x, y + 4, name, classes="small", colour=colour)
