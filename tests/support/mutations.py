"""Ways in which files get damaged between the one who wrote them and the one who reads them."""

import gzip
import io
import random
import zipfile
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random], bytes]


def truncate(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def flip_bits(content: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 3, 30))):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def lose_a_piece(content: bytes, chance: random.Random) -> bytes:
    start, stop = sorted(chance.choices(range(len(content)), k=2))
    return content[:start] + content[stop:]


def repeat_a_piece(content: bytes, chance: random.Random) -> bytes:
    start, stop = sorted(chance.choices(range(len(content)), k=2))
    return content[:stop] + content[start:]


def insert_rubbish(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    rubbish = chance.choice(
        (
            b"\0" * 10,
            b'"',
            b"\n\n\n",
            b"\xff\xfe",
            b",,,,",
            b"\r",
            b"NaN",
            b"1e999",
            b"\xef\xbb\xbf",
        )
    )
    return content[:place] + rubbish * chance.choice((1, 100)) + content[place:]


def reorder_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if chance.random() < 0.5:
        head, body = lines[:1], lines[1:]
        chance.shuffle(body)
        return b"".join(head + body)
    chance.shuffle(lines)
    return b"".join(lines)


def reorder_columns(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    cut = b";" if lines[0].count(b";") > lines[0].count(b",") else b","
    order = list(range(lines[0].count(cut) + 1))
    chance.shuffle(order)
    rows = [line.split(cut) for line in lines]
    return b"\n".join(
        cut.join(row[place] for place in order) if len(row) == len(order) else cut.join(row)
        for row in rows
    )


def rename_columns(content: bytes, chance: random.Random) -> bytes:
    head, _, body = content.partition(b"\n")
    cut = b";" if head.count(b";") > head.count(b",") else b","
    names = head.split(cut)
    for _ in range(chance.choice((1, 2, len(names)))):
        names[chance.randrange(len(names))] = chance.choice(
            (b"", b"kwh", b"time", b"id", b"x" * 300, b"<b>", "Zähler".encode(), names[0], b"date")
        )
    return cut.join(names) + b"\n" + body


def mix_encodings(content: bytes, chance: random.Random) -> bytes:
    text = content.decode("utf-8", errors="replace")
    lines = text.splitlines(keepends=True)
    codecs = ("utf-8", "latin-1", "utf-16", "cp1252", "utf-8-sig")
    if chance.random() < 0.3:
        return text.encode(chance.choice(codecs), errors="replace")
    return b"".join(
        (("é" if chance.random() < 0.05 else "") + line).encode(
            chance.choice(codecs) if chance.random() < 0.05 else "utf-8", errors="replace"
        )
        for line in lines
    )


OF_BYTES: tuple[Mutation, ...] = (
    truncate,
    flip_bits,
    lose_a_piece,
    repeat_a_piece,
    insert_rubbish,
)
OF_TEXT: tuple[Mutation, ...] = (
    *OF_BYTES,
    reorder_lines,
    reorder_columns,
    rename_columns,
    mix_encodings,
)


def mutate(content: bytes, name: str, chance: random.Random) -> bytes:
    """Damage a file once or twice, as its bytes or, where it is packed, what is in it."""
    if name.endswith(".gz") and chance.random() < 0.6:
        return gzip.compress(mutate(gzip.decompress(content), "", chance), mtime=0)
    if name.endswith((".zip", ".xlsx")) and chance.random() < 0.6:
        return _mutate_a_member(content, chance)
    packed = name.endswith((".gz", ".zip", ".parquet", ".xlsx"))
    for _ in range(chance.choice((1, 1, 2))):
        if content:
            content = chance.choice(OF_BYTES if packed else OF_TEXT)(content, chance)
    return content


def _mutate_a_member(content: bytes, chance: random.Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        damaged = chance.choice(old.namelist())
        for name in old.namelist():
            member = old.read(name)
            new.writestr(name, mutate(member, "", chance) if name == damaged else member)
    return packed.getvalue()
