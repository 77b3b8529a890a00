#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at a page as a browser without scripts would: well-formed, asks for nothing, runs nothing.

Usage: page.py PAGE [MARKDOWN]      with a Markdown report: every line of its text is in the page
       page.py --served PAGE        links and forms may lead to other pages of the server
Prints what is wrong and exits 1."""

import html.parser
import re
import sys

VOID = {"meta", "br", "hr", "link", "input"}
SERVED = "--served" in sys.argv
FILES = [word for word in sys.argv[1:] if word != "--served"]
FETCHES = {"src", "srcset", "action", "formaction", "data", "poster", "background", "ping", "xlink:href"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.text, self.wrong, self.ids, self.anchors = [], [], [], set(), []

    def complain(self, what):
        self.wrong.append(f"{self.getpos()}: {what}")

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "embed", "base", "img", "link") or (tag == "form" and not SERVED):
            self.complain(f"<{tag}>")
        for name, value in attributes:
            if SERVED and (tag, name, value) == ("form", "action", "/runs"):
                continue
            if name in FETCHES or name.startswith("on") or name == "style":
                self.complain(f"attribute {name}={value!r}")
            here = SERVED and (value or "").startswith("/") and not value.startswith("//")
            if name == "href" and not (value or "").startswith("#") and not here:
                self.complain(f"a link to {value!r}")
            if name == "href" and not here:
                self.anchors.append(value[1:])
            if name == "id":
                if value in self.ids:
                    self.complain(f"id {value} twice")
                self.ids.add(value)
        if tag not in VOID:
            self.stack.append(tag)
        if tag in ("td", "th", "p", "li", "h1", "h2", "h3"):
            self.text.append("\n")

    def handle_startendtag(self, tag, attributes):  # of SVG
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.complain(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.stack and self.stack[-1] != "style":
            self.text.append(data)


def plain(markdown):
    """The texts of a Markdown report, cell by cell."""
    for line in markdown.splitlines():
        line = re.sub(r"^(#+|-|\d+\.) ", "", line.replace("\\|", "\0"))
        for cell in line.split("|"):
            cell = re.sub(r"<!-- -->|\*\*|`", "", cell.replace("\0", "|"))
            cell = re.sub(r"\\([^\w\s])", r"\1", cell).replace("&lt;", "<").replace("&amp;", "&").strip()
            if cell and not re.fullmatch(r"-+", cell):
                yield cell


def main():
    page = Page()
    with open(FILES[0], encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    wrong = page.wrong + [f"<{tag}> is not closed" for tag in page.stack]
    wrong += [f"nothing has the id {name}" for name in page.anchors if name not in page.ids]
    if sum(1 for part in page.text if part == "\n") < 10:
        wrong.append("there is hardly anything on the page")
    text = "".join(page.text)
    for unseen in re.findall(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text):
        wrong.append(f"a character that nobody sees: {unseen!r}")
    squeezed = re.sub(r"\s+", "", text)
    if len(FILES) > 1:
        with open(FILES[1], encoding="utf-8") as file:
            wrong += [f"not on the page: {cell}" for cell in plain(file.read())
                      if re.sub(r"[\s`*]+", "", cell) not in re.sub(r"[`*]+", "", squeezed)]
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


sys.exit(main())
