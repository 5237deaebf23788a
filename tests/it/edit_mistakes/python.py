"""Sources of Python's own library, and whether texts are Python.

`sources` prints a JSON array of texts; `parses` reads one and prints an array of booleans.
"""

import ast
import glob
import json
import sys
import sysconfig
import warnings

SOURCES_MAX = 80


def sources():
    library = sysconfig.get_paths()["stdlib"]
    texts = []
    for path in sorted(glob.glob(library + "/*.py") + glob.glob(library + "/*/*.py")):
        if "site-packages" in path or "/test" in path:
            continue
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        if 2_000 < len(text) < 30_000 and parses(text):
            texts.append(text)
    return texts[:: max(1, len(texts) // SOURCES_MAX)][:SOURCES_MAX]


def parses(text):
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


warnings.simplefilter("ignore")
if sys.argv[1] == "sources":
    json.dump(sources(), sys.stdout)
else:
    json.dump([parses(text) for text in json.load(sys.stdin)], sys.stdout)
