#!/usr/bin/env python3
"""The HTML report in a real browser: no complaints, no requests, sorts, filters, shows values, prints, fits a phone.

usage: test_report_page.py ULB-BENCH SAMPLE-RECORD [RECORD...]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from browser import Browser

SKIPPED = 77
LARGEST = 3_000_000


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def text_of(browser, selector):
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def column(browser, name):
    """Index and texts of a column of the table of cells."""
    head = browser.run("Array.from(document.querySelectorAll('#cells thead th'), (cell) => cell.textContent)")
    index = head.index(name)
    return index, browser.run("Array.from(document.querySelectorAll('#cells tbody tr'), (row) => "
                              f"row.hidden ? null : row.cells[{index}].textContent).filter((text) => text !== null)")


def click_head(browser, name):
    index, _ = column(browser, name)
    browser.run(f"document.querySelectorAll('#cells thead th button')[{index}].click()")
    return browser.run(f"document.querySelectorAll('#cells thead th')[{index}].getAttribute('aria-sort')")


def check_sorting(browser):
    order = click_head(browser, "us")
    times = [float(text) for text in column(browser, "us")[1]]
    check(order == "descending" and times == sorted(times, reverse=True) and len(set(times)) > 5, "us descending")
    order = click_head(browser, "us")
    times = [float(text) for text in column(browser, "us")[1]]
    check(order == "ascending" and times == sorted(times), "us ascending")
    click_head(browser, "residual")
    residuals = column(browser, "residual")[1]
    known = [float(text.rstrip(" %")) for text in residuals if text]
    check(known == sorted(known, reverse=True), "residuals descending")
    check(residuals == [text for text in residuals if text] + [""] * (len(residuals) - len(known)), "empty cells last")
    click_head(browser, "kernel")
    check(len(column(browser, "kernel")[1]) == len(times), "sorting keeps all rows")
    for _ in range(2):
        click_head(browser, "kernel")
    order = click_head(browser, "kernel")
    names = column(browser, "kernel")[1]
    check(order == "descending" and names[0] > names[-1], "kernels descending")


def check_filter(browser, rows):
    browser.run("filter.value = 'int8 Llama3 down'; filter.dispatchEvent(new Event('input'))")
    shown = browser.run("Array.from(document.querySelectorAll('#cells tbody tr:not([hidden])'), (row) => row.innerText)")
    check(0 < len(shown) < rows, "the filter leaves some rows")
    check(all(re.search("int8", row) and "llama3" in row and "down" in row for row in shown), "the filter's rows")
    check(text_of(browser, "#count") == f"{len(shown)} of {rows} cells", f"count: {text_of(browser, '#count')}")
    browser.run("filter.value = 'no such words'; filter.dispatchEvent(new Event('input'))")
    check(text_of(browser, "#count") == f"0 of {rows} cells", "nothing found")
    browser.run("filter.value = ''; filter.dispatchEvent(new Event('input'))")
    check(text_of(browser, "#count") == f"{rows} of {rows} cells", "everything again")


def check_values(browser, most):
    """Figures show the values of a mark that is pointed at, inside of the window."""
    figures = browser.run("document.querySelectorAll('.svg svg').length")
    check(figures >= 6, f"{figures} figures")
    for i in range(min(figures, most)):
        place = browser.run(f"""(() => {{
            const svg = document.querySelectorAll('.svg svg')[{i}];
            const mark = marksOf(svg)[0];
            mark.group.scrollIntoView({{block: 'center', inline: 'center'}});
            const box = mark.group.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2, mark.text];
        }})()""")
        browser.move(1, 1)
        check(browser.run("tip.hidden"), f"figure {i}: a tip that nobody asked for")
        browser.move(place[0], place[1])
        shown, tip = browser.run("[!tip.hidden, tip.textContent]")
        check(shown and re.search(r"\d", tip), f"figure {i}: values of {place} are not shown: {tip}")
        box = browser.run("(({left, top, right, bottom}) => [left, top, innerWidth - right, innerHeight - bottom])"
                          "(tip.getBoundingClientRect())")
        check(min(box) >= 0, f"figure {i}: the tip leaves the window: {box}")
    check(browser.run("document.querySelectorAll('g.value title').length") == 0, "values are shown twice")


def check_ids(browser):
    check(browser.run("(() => { const ids = Array.from(document.querySelectorAll('[id]'), (e) => e.id);"
                      " return ids.length === new Set(ids).size; })()"), "ids clash")
    check(browser.run("Array.from(document.querySelectorAll('use')).every((use) => "
                      "document.getElementById(use.getAttribute('xlink:href').slice(1)))"), "a mark without its shape")


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def check_themes(browser):
    grounds = []
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        style = browser.run("""(() => {
            const of = (selector, what) => getComputedStyle(document.querySelector(selector))[what];
            return [of('body', 'backgroundColor'), of('section', 'backgroundColor'), of('body', 'color'),
                    of('#figure-beta svg rect', 'fill'), of('#figure-beta svg text', 'fill'), of('#warnings li', 'color'),
                    of('.hint', 'color')];
        })()""")
        page, card, ink, paper, letters, warning, soft = style
        grounds.append(luminance(page))
        check(card == paper, f"{scheme}: figures stand on {paper}, sections on {card}")
        for colour, ground in ((ink, card), (letters, paper), (warning, card), (soft, card)):
            check(contrast(colour, ground) >= 4.5, f"{scheme}: {colour} on {ground}")
    check(grounds[0] > 0.7 and grounds[1] < 0.1, f"light and dark: {grounds}")
    browser.run("document.getElementById('theme').click()")
    check(browser.run("document.documentElement.dataset.theme") == "light", "the theme button")
    browser.run("delete document.documentElement.dataset.theme")
    browser.prefer("light")


def check_phone(browser):
    browser.resize(360, 740)
    width = browser.run("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
    check(width <= 360, f"{width} pixels wide on a phone")
    top = browser.run("document.querySelector('.chip, .headline').getBoundingClientRect().top + scrollY")
    check(top < 400, f"the answer begins {top} pixels down")
    cut = browser.run("Array.from(document.querySelectorAll('.svg')).filter((figure) => "
                      "figure.firstElementChild.getBoundingClientRect().width > figure.clientWidth + 1).length")
    check(cut == 0, f"{cut} figures are cut on a phone")
    check(browser.run("innerWidth") == 360, "the phone zooms out")
    small = browser.run("Array.from(document.querySelectorAll('li, td, p, figcaption')).filter((e) => "
                        "e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12).length")
    check(small == 0, f"{small} texts below 12 pixels")
    check_values(browser, 2)


def check_answer(browser):
    """The answer on top: chips, and what follows from another model, context and wishes."""
    rows = lambda: browser.run("Array.from(document.querySelectorAll('#formats tbody tr'), (row) => "
                               "Array.from(row.cells, (cell) => cell.textContent))")
    set_value = lambda name, value: browser.run(f"(() => {{ const e = document.getElementById('{name}'); e.value = {json.dumps(value)};"
                                                " e.dispatchEvent(new Event('input')); })()")
    fastest = lambda: max(float(row[4]) for row in rows())
    check(re.fullmatch(r"[\d.]+ GB/s", text_of(browser, "#chip-memory")), text_of(browser, "#chip-memory"))
    check("falcon3-1b" in text_of(browser, "#chip-tokens-of"), text_of(browser, "#chip-tokens-of"))
    data = json.loads(text_of(browser, "#answer-data"))
    before = rows()
    for row, format in zip(before, data["models"][0]["formats"], strict=True):
        check(row[0] == format["format"] and float(row[4]) == round(format["tokens_per_s"], 1), f"{row} is not {format}")
    small = fastest()
    set_value("model", "llama3-8b")
    check("llama3-8b" in text_of(browser, "#chip-tokens-of") and fastest() < small, "another model")
    at_4096 = fastest()
    set_value("context", "0")
    check(fastest() > at_4096, "no context is faster")
    set_value("context", "4096")
    check(fastest() == at_4096, "the context as before")
    set_value("wanted", "0.001")
    check("Take int8: the least error" in text_of(browser, "#suggestion"), text_of(browser, "#suggestion"))
    set_value("error", "0.001")
    check("No format" in text_of(browser, "#suggestion"), text_of(browser, "#suggestion"))
    set_value("error", "1")
    set_value("wanted", "1000000")
    check("the fastest" in text_of(browser, "#suggestion"), text_of(browser, "#suggestion"))
    dots = browser.run("document.querySelectorAll('#chart circle').length")
    check(dots == len([row for row in before if row[3]]), f"{dots} dots in the chart")
    check(browser.run("document.querySelector('#chart svg').getAttribute('aria-label').length > 10"), "the chart has no label")
    set_value("wanted", "10")
    set_value("error", "0.25")
    set_value("model", "falcon3-1b")
    check(rows() == before, "the page as it was")
    check(json.loads(text_of(browser, "#record"))["schema_version"] >= 1, "the page holds no record")


def check_labels(browser):
    check(browser.run("Array.from(document.querySelectorAll('.svg')).every((figure) => "
                      "figure.getAttribute('role') === 'img' && figure.getAttribute('aria-label'))"), "a figure without a label")


def check_print(browser, rows):
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = false; })")
    browser.prefer("dark", "print")
    check(browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "prints on white")
    check(browser.run("getComputedStyle(document.querySelector('nav')).display") == "none", "prints no navigation")
    check(browser.run("document.querySelectorAll('#cells tbody tr').length") == rows, "the cells are there")
    check(browser.run("getComputedStyle(document.querySelector('#table')).display") == "none", "prints the cells")
    browser.prefer("light")
    pdf = browser.pdf()
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    check(pdf.startswith(b"%PDF-") and 1 <= pages <= 4, f"{pages} pages in print")
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def check_page(browser, path, records):
    size = path.stat().st_size
    check(size < LARGEST, f"{size} bytes")
    browser.open(path)
    browser.resize(1200, 900)
    browser.prefer("light")
    check("This CPU re" in text_of(browser, "main"), "no verdict")
    check(browser.run("document.querySelectorAll('details[open]').length") == (0 if len(records) == 1 else 1), "what is folded")
    browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    first = browser.run("(() => { const e = document.querySelector('main').firstElementChild; return e.id || e.className; })()")
    check(first == ("answer" if len(records) == 1 else "verdict"), f"{first} is first")
    check_labels(browser)
    rows = browser.run("document.querySelectorAll('#cells tbody tr').length")
    check(rows == sum(len(json.loads(record.read_text())["cells"]) for record in records), f"{rows} rows")
    check_ids(browser)
    if len(records) == 1:
        check_answer(browser)
        check_sorting(browser)
        check_filter(browser, rows)
        check_values(browser, 99)
        check_themes(browser)
        check_print(browser, rows)
    else:
        check(browser.run("document.querySelectorAll('section.verdict').length") == len(records), "verdicts")
        check(text_of(browser, "#shares h2") == "Side by side", "no comparison")
    check_phone(browser)
    check(browser.complaints() == [], f"complaints: {browser.complaints()}")
    asked = [url for url in browser.requests() if not url.startswith(("file:///", "data:"))]
    check(asked == [] and len(browser.requests()) <= 2, f"requests: {browser.requests()}")
    print(f"{path.name}: {size} bytes, {rows} rows, all as it should be")


def make_page(bench, folder, name, records):
    path = folder / name
    subprocess.run([bench, "report", *map(str, records), "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
    return path


def main(bench, sample, *given):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or not shutil.which("gnuplot"):
        print("skipped: no chromium or no gnuplot")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sample, str(folder)], check=True)
        everything, hybrid = folder / "4.json", folder / "1.json"
        pages = [[everything], [hybrid, everything]] if not given else [[pathlib.Path(path) for path in given]]
        browser = Browser(program)
        try:
            for number, records in enumerate(pages):
                check_page(browser, make_page(bench, folder, f"page{number}.html", records), records)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
