#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what real programs work on when they are recorded, the same on every machine.

    scripts/program_inputs.py [FOLDER [SCALE]]

text, part (of text) for gzip and xz, source.c for a C compiler, bench.py, bench.lua, and fill.sql for sqlite3. SCALE is per
cent of the usual work (default 100: 5 MB of words, 2,000 lines of C).
"""
import pathlib
import sys


def words(length):
    """`length` characters or a few more."""
    seed, all_words = 1, []
    for n in range(4096):
        seed = (seed * 69069 + 1) % 2**32
        word, left = "", seed // 65536
        while len(word) < 3 + n % 7:
            word += chr(97 + left % 26)
            left = left // 3 + n
        all_words.append(word)
    text, written = [], 0
    while written < length:
        seed = (seed * 69069 + 1) % 2**32
        word = all_words[seed // 1048576]
        text += [word, "\n" if written % 11 == 0 else " "]
        written += len(word) + 1
    return "".join(text)


def c_source(functions):
    """Of ten lines each."""
    one = """static unsigned mix{n}(unsigned a, unsigned b) {{
  unsigned table[8] = {{a, b, a ^ b, a + b, {n}, 3, 5, 7}};
  for (unsigned n = 0; n < 64; ++n) {{
    const unsigned x = table[n % 8], y = table[(n + a) % 8];
    if (x > y) table[(n + 1) % 8] += x / (y + 1);
    else table[(n + 3) % 8] ^= (x << 3) | (y >> 5);
  }}
  return table[a % 8] + table[b % 8];
}}

"""
    calls = "".join(f"  a = mix{n}(a, {n});\n" for n in range(1, functions + 1))
    return "".join(one.format(n=n) for n in range(1, functions + 1)) + \
        "unsigned all(unsigned a) {\n" + calls + "  return a;\n}\n"


def python_source(scale):
    return f"""def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
words = {{}}
for n in range(600 * {scale}): words[str(n % 997)] = words.get(str(n % 997), 0) + n
print(fib(20), sorted(words.items(), key=lambda item: -item[1])[:3])
for _ in range({scale} // 20): fib(17)
"""


def lua_source(scale):
    return f"""local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {{}}
for n = 0, 3000 * {scale} do local key = tostring(n % 997); words[key] = (words[key] or 0) + n end
print(fib(27), words["7"])
"""


def sql(scale):
    return f"""create table t(id integer primary key, name text, value real);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < {200 * scale})
insert into t select i, 'name ' || (i * 7919 % 10007), i / 3.0 from n;
commit; create index by_name on t(name); select count(*), sum(value) from t where name like "name 1%";
"""


def write(folder, scale=100):
    text = words(50000 * scale)
    for name, content in (("text", text), ("part", text[:10000 * scale]), ("source.c", c_source(max(2 * scale, 1))),
                          ("bench.py", python_source(scale)), ("bench.lua", lua_source(scale)), ("fill.sql", sql(scale))):
        pathlib.Path(folder, name).write_text(content)


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else ".", int(sys.argv[2]) if len(sys.argv) > 2 else 100)
