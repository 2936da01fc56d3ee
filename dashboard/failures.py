"""Failures of the program itself: logged without anybody's data, and told by a number.

What is logged of an error is its kind, its words and its places. Texts in it that may be somebody's
id, and numbers that may be readings, are replaced by ``…``: what is quoted, what has a digit in it,
and, where Python code raised the error, words that this code does not have itself: Bokeh and others
put values into their messages without quotes. The page shows a sentence with a reference number,
under which the log has the rest.
"""

import linecache
import logging
import os
import re
import secrets
import traceback
from functools import lru_cache
from pathlib import Path

_HIDDEN = "…"
# An apostrophe within a word is no quote.
_QUOTED = re.compile(r"""(?<!\w)[bfru]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_UNFINISHED_QUOTE = re.compile(r"""(?<!\w)['"].*""")
_TOKEN = re.compile(r"[^\s,;:=()\[\]{}<>]+")
# An error that a library quotes, as HoloViews does: "ValueError('lengths differ: 3 and 4')".
_QUOTED_ERROR = re.compile(r"""["'](\w*(?:Error|Exception|Warning))\((.*)\)["']""", re.DOTALL)
_WORD = re.compile(r"\w+")
_HIDDEN_AGAIN = re.compile(r"…(?:[\s.,…-]*…)+")
_PLACES = 4
_OWN_PLACES = 2
_OWN_CODE = tuple(f"{Path(__file__).parents[1] / name}{os.sep}" for name in ("core", "dashboard"))
# Characters of an error that are looked at: what is wrong may be as long as a message can be.
_LONGEST = 2_000


def mask(text: str) -> str:
    """Return the first line of a text without what is quoted and without words with a digit.

    ``there is no household '1003' among 622`` becomes ``there is no household … among …``.
    """
    text = text[:_LONGEST]
    before, error, after = text, "", ""
    if match := _QUOTED_ERROR.search(text):
        error = f"{match[1]}: {mask(match[2].strip(chr(34) + chr(39)))}"
        before, after = text[: match.start()], text[match.end() :]
    return _mask_words(before) + error + (_mask_words(after) if error else "")


def _mask_words(text: str) -> str:
    line = text.partition("\n")[0]
    for pattern in (_QUOTED, _UNFINISHED_QUOTE):
        line = pattern.sub(_HIDDEN, line)
    return _TOKEN.sub(_without_digits, line)


def _without_digits(token: re.Match[str]) -> str:
    return _HIDDEN if any(sign.isdecimal() for sign in token[0]) else token[0]


def describe_error(error: BaseException) -> str:
    """The kind of an error and its words, masked."""
    words = mask(str(error))
    frames = traceback.extract_tb(error.__traceback__)
    if frames and (frames[-1].line or "").startswith("raise"):
        own = _words_of_source(frames[-1].filename)
        words = _WORD.sub(lambda word: word[0] if word[0] in own else _HIDDEN, words)
        words = _HIDDEN_AGAIN.sub(_HIDDEN, words)
    return f"{type(error).__name__}: {words}"


@lru_cache(maxsize=64)
def _words_of_source(file: str) -> frozenset[str]:
    return frozenset(_WORD.findall("".join(linecache.getlines(file))))


def describe_places(error: BaseException) -> str:
    """Where an error was raised, the innermost place first, and where our own code led there."""
    frames = traceback.extract_tb(error.__traceback__)
    inner, outer = frames[-_PLACES:], frames[:-_PLACES]
    own = [each for each in outer if each.filename.startswith(_OWN_CODE)][-_OWN_PLACES:]
    return " < ".join(f"{each.filename}:{each.lineno}" for each in reversed([*own, *inner]))


def report_failure(
    log: logging.Logger, event: str, error: BaseException | None = None, **facts: str
) -> str:
    """Log a failure under a new reference number; return the sentence for the page.

    ``event`` and ``facts`` are logged as they are, the error as its kind, masked words and places.
    """
    reference = secrets.token_hex(4).upper()
    log.error(event, exc_info=error, extra={"reference": reference, **facts})
    return (
        "Something went wrong inside Wattfold. Try again; if it stays, report it with the number "
        f"{reference}, under which the server's log says more."
    )
