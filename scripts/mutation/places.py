# SPDX-License-Identifier: MIT
"""What can be changed in a source file, and which of it is drawn."""
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    kind: str
    before: str  # the line as it stands, and as it would
    after: str
    nth: int  # of those that read alike in this file
    offset: int
    length: int
    text: str

    @property
    def module(self) -> str:
        return Path(self.file).parts[1]

    @property
    def end(self) -> int:
        return self.offset + self.length


OPERATORS = {
    "relational": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "++": "--", "--": "++"},
    "bit": {"&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "&=": "|=", "|=": "&="},
    "logical": {"&&": "||", "||": "&&"},
}
# Only between spaces, as the formatter sets what has two operands: never a reference, a template or a pointer.
BINARY = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|&=|\|=|[-+*/%&|^<>])(?= )")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.'])(0x[0-9A-Fa-f']+|\d[\d']*)(?![\w.'])")
NEGATED = re.compile(r"(?<=[(\s])!(?=[\w(])")
CONDITION = re.compile(r"\b(?:if|while) \(([^;{}]+)\)(?= )")
STATEMENT = re.compile(r"^ +(?!return|break|continue|using|case|default|static_assert|throw|goto|else|if|for|while|do\b)"
                       r"[\w:>.\[\]()*-]+(?:\.|->)?[^;{}=]*(?:\(.*\)|[-+|&^]?= [^;{}]+|\+\+|--);$")
DECLARATION = re.compile(r"^ +(?:const|constexpr|static|auto|struct|class|enum|template|friend|[A-Za-z_][\w:<>, ]*[&*]? +\w+"
                         r"(?: = |[({;]))")
ARGUMENTS = re.compile(r"(?<=\()(\w+), (\w+)(?=[,)])")


def blanked(source: str) -> str:
    """The source with comments, strings and directives as spaces: offsets stay."""
    skip = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|^[ \t]*#[^\n]*', re.S | re.M)
    return skip.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def changes(line: str, written: str):
    """(kind, begin, end, replacement) of everything that can be changed in a line of code, blanked and as written."""
    for found in BINARY.finditer(line):
        for kind, others in OPERATORS.items():
            if found[0] in others and not line.startswith(("template", "#")):
                yield kind, *found.span(), others[found[0]]
    for found in STEP.finditer(line):
        yield "arithmetic", *found.span(), OPERATORS["arithmetic"][found[0]]
    for found in NUMBER.finditer(line):
        value = int(found[0].replace("'", ""), 0)
        yield "constant", *found.span(), str(value + 1)
        if value > 1:
            yield "constant", *found.span(), str(value - 1)
    for found in NEGATED.finditer(line):
        yield "logical", *found.span(), ""
    for found in CONDITION.finditer(line):
        if ";" not in found[1] and found[1].count("(") == found[1].count(")"):
            yield "logical", *found.span(1), f"!({written[slice(*found.span(1))]})"
    if STATEMENT.match(line) and not DECLARATION.match(line):
        yield "dropped", len(line) - len(line.lstrip()), len(line), ";"
    for found in ARGUMENTS.finditer(line):
        if found[1] != found[2]:
            yield "swapped", *found.span(), f"{found[2]}, {found[1]}"


# Behind such a line a statement can begin; behind others an expression goes on.
ENDED = re.compile(r"(?:[;{}:]|^ *(?:\} )?else|^ *(?:\} else )?(?:if|for|while) .*\)|^)$")


def mutants_of(path: Path):
    source = path.read_text()
    offset, alike, previous = 0, {}, ""
    for number, (line, code) in enumerate(zip(source.split("\n"), blanked(source).split("\n")), 1):
        code = code.rstrip()
        for kind, begin, end, text in changes(code, line):
            if kind == "dropped" and not ENDED.search(previous):
                continue
            after = line[:begin] + text + line[end:]
            same = (line.strip(), after.strip())
            alike[same] = alike.get(same, -1) + 1
            yield Mutant(str(path.relative_to(TOP)), number, kind, *same, alike[same], offset + begin, end - begin, text)
        offset += len(line) + 1
        previous = code


NUMBERS = 1 << 20


def everything(modules):
    """All that can be changed in modules."""
    return [m for module in sorted(modules) for path in sorted((TOP / "src" / module).rglob("*.cpp"))
            for m in mutants_of(path)]


def digest(*words) -> bytes:
    return hashlib.sha256(" ".join(map(str, words)).encode()).digest()


def words_of(mutant: Mutant):
    """What it is, wherever it stands in its file."""
    return mutant.file, mutant.kind, mutant.before, mutant.after, mutant.nth


def numbered(mutants):
    """The mutants by number: its own for each, whatever else the sources say and whoever draws it."""
    places = {}
    for mutant in sorted(mutants, key=lambda m: digest(*words_of(m))):
        number = int.from_bytes(digest(*words_of(mutant))[-4:], "little") % NUMBERS
        while number in places:
            number = (number + 1) % NUMBERS
        places[number] = mutant
    return places


def drawn(places, seed: int, count: int):
    """The numbers of those to try. Each has a place in the draw, whatever else the sources say: those drawn for a small
    count are drawn for a larger one, those of a module with all modules, too."""
    return sorted(places, key=lambda number: digest(seed, *words_of(places[number])))[:count]


def key_of(mutant: Mutant) -> str:
    """Equal for the same change to the same source."""
    return hashlib.sha256(f"{mutant}{(TOP / mutant.file).read_text()}".encode()).hexdigest()[:24]
