# SPDX-License-Identifier: GPL-3.0-or-later
"""What the po- tools share: the texts of the sources, catalogues in files po/LANG.po, and what a translation must keep.
Reads and writes the part of the PO format that we use: no contexts, no domains, no obsolete entries."""

import hashlib
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The plural rule of base/msg-catalog.h, how many forms it has, and how gettext's tools write it.
LANGUAGES = {
    "de": ("MSG_PLURAL_NOT_ONE", 2, "nplurals=2; plural=(n != 1);"),
    "fr": ("MSG_PLURAL_ABOVE_ONE", 2, "nplurals=2; plural=(n > 1);"),
    "ko": ("MSG_PLURAL_NONE", 1, "nplurals=1; plural=0;"),
}
# The decimal sign and the date; xx is the language of tests.
FORMATS = {"en": (".", "y-m-d"), "de": (",", "d.m.y"), "fr": (",", "d/m/y"), "ko": (".", "y. m. d."), "xx": (",", "d~m~y")}
ENGLISH_NAMES = {"de": "German", "fr": "French", "ko": "Korean"}
# Functions that look a text up, and which argument it is; N_ marks what is looked up elsewhere.
KEYWORDS = ["_", "N_", "msg_plural:2,3", "err_set:4", "err_add:3", "plan_complain:4", "plan_warn:4"]
# The programs without messages: the GPU helper and what goes into the measured process.
WITHOUT_TEXTS = ("gpu", "agent")


class PoError(Exception):
    pass


class Entry:
    def __init__(self, msgid="", plural=None):
        self.comments = []  # for translators, extracted from the sources
        self.own_comments = []  # of the translators
        self.files = []
        self.flags = []
        self.msgid = msgid
        self.plural = plural
        self.forms = []
        self.line = 0

    def key(self):
        """A number for people and lists: the same as long as the text is the same."""
        return hashlib.sha256(self.msgid.encode()).hexdigest()[:8]

    def is_translated(self):
        return bool(self.forms) and all(self.forms) and "fuzzy" not in self.flags


ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v"}
ESCAPED = {value: "\\" + name for name, value in ESCAPES.items()}


def unescape(text, place="?"):
    def one(match):
        if match.group(1) not in ESCAPES:
            raise PoError("%s: unknown escape '%s'" % (place, match.group(0)))
        return ESCAPES[match.group(1)]
    if re.search(r'(?<!\\)(?:\\\\)*"', text):
        raise PoError("%s: a '\"' that is not escaped" % place)
    return re.sub(r"\\(.)", one, text)


def escape(text):
    return "".join(ESCAPED.get(c, c) for c in text)


# ---- PO files ----

def parse(text, name):
    """Entries in order; the header is the one with an empty msgid."""
    entries, entry, target = [], None, None
    texts = {}

    def finish():
        nonlocal entry, texts, target
        if entry is not None:
            if "msgid" not in texts:
                raise PoError("%s:%d: an entry without msgid" % (name, entry.line))
            entry.msgid = texts.pop("msgid")
            entry.plural = texts.pop("msgid_plural", None)
            count = len(texts)
            wanted = ["msgstr"] if entry.plural is None else ["msgstr[%d]" % i for i in range(count)]
            if count == 0 or sorted(texts) != sorted(wanted):
                raise PoError("%s:%d: msgstr or msgstr[0], msgstr[1] expected" % (name, entry.line))
            entry.forms = [texts[key] for key in wanted]
            entries.append(entry)
        entry, texts, target = None, {}, None

    for number, line in enumerate(text.split("\n"), 1):
        place = "%s:%d" % (name, number)
        if line.strip() == "":
            finish()
            continue
        if entry is None or (target is not None and target.startswith("msgstr") and line[0] == "#"):
            finish()
            entry = Entry()
            entry.line = number
        if line.startswith("#~"):
            raise PoError("%s: an obsolete entry; run tools/po-update" % place)
        if line.startswith("#."):
            entry.comments.append(line[2:].strip())
        elif line.startswith("#:"):
            entry.files += line[2:].split()
        elif line.startswith("#,"):
            entry.flags += [flag.strip() for flag in line[2:].split(",")]
        elif line.startswith("#"):
            entry.own_comments.append(line[1:].strip())
        else:
            match = re.fullmatch(r'(?:(msgid|msgid_plural|msgstr(?:\[\d\])?) )?"(.*)"\s*', line)
            if match is None or (match.group(1) is None and target is None):
                raise PoError("%s: this is no line of a PO file that we know" % place)
            if match.group(1) == "msgid" and "msgid" in texts:
                finish()
                entry = Entry()
                entry.line = number
            if match.group(1) is not None:
                target = match.group(1)
                if target in texts:
                    raise PoError("%s: a second %s" % (place, target))
                texts[target] = ""
            texts[target] += unescape(match.group(2), place)
    finish()
    return entries


def read(path):
    with open(path, encoding="utf-8") as file:
        entries = parse(file.read(), path)
    if not entries or entries[0].msgid != "":
        raise PoError("%s: no header" % path)
    seen = {}
    for entry in entries:
        if entry.msgid in seen:
            raise PoError("%s:%d: the text of line %d again" % (path, entry.line, seen[entry.msgid]))
        seen[entry.msgid] = entry.line
    return entries


def header(language):
    entry = Entry()
    entry.own_comments = ["%s messages of probelauf." % ENGLISH_NAMES[language], "SPDX-License-Identifier: GPL-3.0-or-later"]
    entry.forms = ["Project-Id-Version: probelauf\nLanguage: %s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
                   "Content-Transfer-Encoding: 8bit\nPlural-Forms: %s\n" % (language, LANGUAGES[language][2])]
    return entry


def add_text(lines, name, text):
    """A line of the file per line of the text, so that a changed one is one line of a diff."""
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text)
    if len(pieces) <= 1:
        lines.append('%s "%s"' % (name, escape(text)))
        return
    lines.append('%s ""' % name)
    lines += ['"%s"' % escape(piece) for piece in pieces]


def dump(entries):
    lines = []
    for entry in entries:
        if lines:
            lines.append("")
        lines += ["# " + comment for comment in entry.own_comments]
        lines += ["#. " + comment for comment in entry.comments]
        lines += ["#: " + file for file in entry.files]
        if entry.flags:
            lines.append("#, " + ", ".join(entry.flags))
        add_text(lines, "msgid", entry.msgid)
        if entry.plural is not None:
            add_text(lines, "msgid_plural", entry.plural)
            for i, form in enumerate(entry.forms):
                add_text(lines, "msgstr[%d]" % i, form)
        else:
            add_text(lines, "msgstr", entry.forms[0])
    return "\n".join(lines) + "\n"


def write(path, entries):
    """Whole or not at all; untouched where nothing changed."""
    text = dump(entries)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
    return True


def catalogue_path(language, root=ROOT):
    return os.path.join(root, "po", language + ".po")


# ---- the texts of the sources ----

def source_files(root):
    found = []
    for folder, folders, names in os.walk(os.path.join(root, "src")):
        if os.path.relpath(folder, os.path.join(root, "src")).split(os.sep)[0] in WITHOUT_TEXTS:
            folders[:] = []
            continue
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


def extract(root=ROOT):
    """The entries of all texts that are marked, in the order of the files. Needs xgettext (package gettext)."""
    files = source_files(root)
    if not files:
        raise PoError("%s/src holds no C file" % root)
    command = ["xgettext", "--language=C", "--from-code=UTF-8", "--no-wrap", "--add-location=file",
               "--add-comments=TRANSLATORS:", "-o", "-", "-f", "-"]
    command[1:1] = ["--keyword"] + ["--keyword=" + keyword for keyword in KEYWORDS]
    done = subprocess.run(command, cwd=root, input="\n".join(files) + "\n", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PoError("xgettext: %s" % done.stderr.strip())
    entries = parse(done.stdout, "xgettext")
    for entry in entries:  # xgettext takes "5 % in" for a format
        if CONVERSION.search(entry.msgid.replace("%%", "")) is None and "%%" not in entry.msgid:
            entry.flags = [flag for flag in entry.flags if flag != "c-format"]
    # "%s: %s" of an error says nothing by itself: there is nothing to translate.
    return [entry for entry in entries if re.search(r"[^\W\d_]", conversions_out(entry.msgid))]


def text_problems(entry):
    """What makes a text of the sources untranslatable."""
    for text in [entry.msgid] + ([entry.plural] if entry.plural is not None else []):
        if re.search(r"<PRI[a-zA-Z0-9]+>", text):
            yield "a PRI macro inside a text: cast, and use %u, %lld or %llu"


# ---- what a translation must keep ----

# The flag blank is left out: nobody uses it, and "5 % in" is no conversion to people.
CONVERSION = re.compile(r"%(?:(\d+)\$)?([-+#0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?)(hh|h|ll|l|L|q|j|z|t)?([diouxXeEfFgGaAcspn])")


def conversions_out(text):
    return CONVERSION.sub("", text.replace("%%", ""))


def conversions(text):
    """The type of each argument, in the order of the arguments. PoError: positions and none mixed, or one left out."""
    found = CONVERSION.findall(text.replace("%%", ""))
    types = [("*" if "*" in middle else "") + length + letter for _, middle, length, letter in found]
    positions = [int(position) for position, _, _, _ in found if position]
    if not positions:
        return types
    if len(positions) != len(found) or any("*" in kind for kind in types):
        raise PoError("%N$ for all conversions of a text or for none, and without *")
    by_position = {}
    for position, kind in zip(positions, types):
        if by_position.setdefault(position, kind) != kind:
            raise PoError("%%%d$ with two types" % position)
    if sorted(by_position) != list(range(1, len(by_position) + 1)):
        raise PoError("the numbers of %N$ have a gap")
    return [by_position[i] for i in sorted(by_position)]


def is_example_list(text):
    return text.startswith("probelauf ") and "  # " in text


def example_commands(text):
    return [line.split("  # ")[0] for line in text.split("\n")]


def ends(text):
    return re.match(r"[ \n]*", text).group(0), re.search(r"[ \n]*\Z", text).group(0)


def form_problems(entry, index, form):
    """index: of the form; the plural form is measured by the English plural."""
    if form == "":
        return
    english = entry.plural if entry.plural is not None and (index == 1 or len(entry.forms) == 1) else entry.msgid
    try:
        ours, theirs = conversions(english), conversions(form)
        # A singular may leave its number out ("one run"), as its English does.
        if ours != theirs and not (entry.plural is not None and conversions(entry.msgid) == theirs):
            yield "conversions differ: %s in English, %s here" % (" ".join(ours) or "none", " ".join(theirs) or "none")
    except PoError as problem:
        yield str(problem)
    if "%" in CONVERSION.sub("", form.replace("%%", "")) and "%" not in CONVERSION.sub("", english.replace("%%", "")):
        yield "a '%' that is no conversion: write %%"
    if ends(english) != ends(form):
        yield "blanks or line feeds at an end differ"
    if english.count("\n") != form.count("\n"):
        yield "%d lines in English, %d here" % (english.count("\n") + 1, form.count("\n") + 1)
    elif is_example_list(english) and example_commands(english) != example_commands(form):
        yield "the commands in front of '  # ' differ"
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", form):
        yield "a control character"


def problems(entry):
    for index, form in enumerate(entry.forms):
        yield from form_problems(entry, index, form)


# What a reader types or looks up: the same in every language.
NAMES_OF_PROGRAM = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]|\b[A-Z]+_[A-Z_]+\b|'probelauf [a-z]+|\b[a-z]+_[a-z_]+|`[^`]*`|"
                              r"\[[mea?]\]|(?<=')[a-z_]+\.[a-z_.]+(?=')", re.A)


def oversights(entry, language):
    """Signs of a text that was left in English, or of a name that was translated: for the test, not for the build."""
    for index, form in enumerate(entry.forms):
        english = entry.plural if index == 1 else entry.msgid
        plain = re.sub(r"'[^']*'|\[[^]]*\|[^]]*\]|(?<!\w)--?[a-z-]+", "", conversions_out(english))
        words = re.findall(r"\b[a-z]{3,}\b", plain)
        if len(words) >= 3 and (form == english or (language == "ko" and not re.search("[가-힣]", form))):
            yield "this is the English text"
        ours, theirs = (set(NAMES_OF_PROGRAM.findall(conversions_out(text))) for text in (english, form))
        # a singular may say "it" where the plural names
        # a closed word alone is not typed there, but explained (report/words.c)
        if ours != theirs and english not in ours and (entry.plural is None or not theirs <= ours):
            yield "names differ: %s" % " ".join(sorted(ours ^ theirs))


def check_header(language, entry, path):
    if language not in LANGUAGES:
        raise PoError("%s: no plural rule is known for '%s' (tools/po_file.py)" % (path, language))
    match = re.search(r"^Plural-Forms: (.*)$", entry.forms[0], re.M)
    if match is None or match.group(1) != LANGUAGES[language][2]:
        raise PoError("%s: the header must say 'Plural-Forms: %s'" % (path, LANGUAGES[language][2]))
    if "charset=UTF-8" not in entry.forms[0]:
        raise PoError("%s: the header must say 'charset=UTF-8'" % path)
