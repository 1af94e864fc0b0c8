# SPDX-License-Identifier: MIT
"""Many mutants in one source: each place that is drawn asks at run time which of them is alive.

    a < b      becomes    (pmusim_mutant(7) ? (a <= b) : (a < b))
    step();    becomes    { if (!pmusim_mutant(8)) step(); }

Lines keep their numbers. What the compiler evaluates itself has no run time: `constexpr` data that is changed becomes
`const`, and `constexpr` functions ask only when they run (`Asking.at_run_time`).
"""
import enum
import re
from dataclasses import dataclass

from mutation.places import Mutant, blanked


class Asking(enum.Enum):
    """How a place asks: each is tried when the one before does not compile."""
    always = "pmusim_alive"
    at_run_time = "pmusim_alive_at_run_time"


# The mutant that lives is named by PMUSIM_MUTANT; PMUSIM_MUTANTS_REACHED is a file with a byte per mutant, set when a
# process comes by. Nothing is included: a system header here could change what the source compiles to.
DECLARATIONS = (
    "extern \"C\" int pmusim_mutant_alive; extern \"C\" unsigned char* pmusim_mutants_reached; "
    "inline bool pmusim_alive(int n) { if (pmusim_mutants_reached) pmusim_mutants_reached[n] = 1; "
    "return n == pmusim_mutant_alive; } "
    "constexpr bool pmusim_alive_at_run_time(int n) { return !__builtin_is_constant_evaluated() && pmusim_alive(n); } ")

DEFINITIONS = r"""
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
extern "C" {
int pmusim_mutant_alive = -1;
unsigned char* pmusim_mutants_reached = nullptr;
}
// Before anything is initialised that may ask.
__attribute__((constructor(101))) static void choose_mutant() {
  if (const char* number = std::getenv("PMUSIM_MUTANT")) pmusim_mutant_alive = std::atoi(number);
  const char* name = std::getenv("PMUSIM_MUTANTS_REACHED");
  const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return;
  void* bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) pmusim_mutants_reached = static_cast<unsigned char*>(bytes);
  close(file);
}
"""

OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
ASSIGNMENT = re.compile(r"(?<![=!<>])(?:[-+*/%&|^]|<<|>>)?=(?!=)")
LEADING = re.compile(r"\s*(?:(?:if(?: constexpr)?|for|while|switch) (?=\()|(?:return|else|do|throw|co_return)\b|"
                     r"(?:case [^:;]*|default):(?!:))")


def matching(code: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in OPENING) - (code[place] in CLOSING)
        if depth == 0:
            return place + 1
    return len(code)


def is_border(code: str, at: int) -> bool:
    """Whether an expression ends here, outside brackets."""
    c = code[at]
    if c in ",;?":
        return True
    if c == ":":
        return code[at - 1] != ":" and code[at + 1] != ":"
    if c == "=":  # an assignment, not a comparison
        return code[at + 1] != "=" and code[at - 1] not in "=!<>" or code[at - 2:at] in ("<<", ">>")
    return False


def expression_around(code: str, begin: int, end: int, crosses_assignment: bool):
    """The smallest whole expression with code[begin:end] in it."""
    def stops(at):
        return is_border(code, at) and not (crosses_assignment and code[at] == "=")
    first, depth = begin, 0
    while first > 0:
        c = code[first - 1]
        if c in CLOSING:
            if c == "}" and depth == 0 and re.match(r"\s*\n", code[first:]):
                break  # the block before
            depth += 1
        elif c in OPENING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and stops(first - 1):
            break
        first -= 1
    last, depth, choices = end, 0, 0
    while last < len(code):
        c = code[last]
        if c in OPENING:
            depth += 1
        elif c in CLOSING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and crosses_assignment and c == "?":  # all of `a ? b : c` is assigned
            choices += 1
        elif depth == 0 and choices and c == ":" and is_border(code, last):
            choices -= 1
        elif depth == 0 and stops(last):
            # `+=` and its like: the operator belongs to the assignment.
            while code[last] == "=" and code[last - 1] in "+-*/%&|^<>":
                last -= 1
            break
        last += 1
    while (found := LEADING.match(code, first, begin)) is not None:
        place = found.end()
        if code[place:place + 1] == "(" and re.search(r"(?:if|if constexpr|for|while|switch) $", found[0]):
            place = matching(code, place)
        if place > begin:
            break
        first = place
    while code[first].isspace():
        first += 1
    while code[last - 1].isspace():
        last -= 1
    return first, last


@dataclass
class Choice:
    """A stretch of source with the mutant that would change it."""
    number: int
    mutant: Mutant
    begin: int
    end: int
    asking: Asking = Asking.always
    data: int | None = None  # where the `constexpr` stands that makes data of it


def choice_of(number: int, mutant: Mutant, code: str) -> Choice:
    begin, end = mutant.offset, mutant.end
    if mutant.kind == "swapped":
        begin, end = expression_around(code, begin - 1, begin - 1, False)
    elif mutant.kind not in ("constant", "dropped") and not mutant.text.startswith("!("):
        assigns = code[begin:end] in ("+=", "-=", "&=", "|=")
        begin, end = expression_around(code, begin, end, assigns)
    return Choice(number, mutant, begin, end)


class Instrumented:
    """A source with mutants in it."""

    def __init__(self, source: str, numbered):
        self.source, self.code = source, blanked(source)
        choices = [choice_of(number, mutant, self.code) for number, mutant in numbered]
        self.out = set()  # mutants that do not compile in this way
        self.choices = [c for c in choices if not any(half_within(c, other) for other in choices[:choices.index(c)])]
        for choice in self.choices:
            self.find_time_of(choice)

    def find_time_of(self, choice: Choice):
        """Data can be computed at run time; a constexpr function has to stay one."""
        # Of the statement or the definition that the place is in: no other has ended in between.
        for found in reversed(list(re.finditer(r"\bconst(?:expr|eval|init)\b", self.code[:choice.begin]))):
            between = self.code[found.end():choice.begin]
            if re.search(r"\n}|\n\n(?=\S)", between):
                return
            head = re.match(r"[^;{=]*", between)[0]
            if re.search(r"\) *(?:const)? *(?:noexcept)? *(?:->[^{]*)?$", head) and between[len(head):len(head) + 1] == "{":
                choice.asking = Asking.at_run_time  # a function
                return
            depth, ended = 0, False
            for c in between:
                depth += (c in OPENING) - (c in CLOSING)
                ended = ended or (c == ";" and depth == 0)
            if not ended and found[0] == "constexpr" and not self.code[:found.start()].endswith("if "):
                choice.data = found.start()
                return

    def render(self) -> str:
        return DECLARATIONS + self.rendered(0, len(self.source), self.choices)

    def rendered(self, begin: int, end: int, choices) -> str:
        """source[begin:end] with the choices in it, all of them inside."""
        parts, at = [], begin
        for stretch in outermost(choices):
            here = [c for c in choices if (c.begin, c.end) == stretch]
            inner = [c for c in choices if c not in here and stretch[0] <= c.begin and c.end <= stretch[1]]
            parts += [self.plain(at, stretch[0]), self.chosen(here, self.rendered(*stretch, inner))]
            at = stretch[1]
        return "".join(parts) + self.plain(at, end)

    def plain(self, begin: int, end: int) -> str:
        text = self.source[begin:end]
        for place in sorted({c.data for c in self.choices if c.data is not None}, reverse=True):
            if begin <= place < end:
                text = text[:place - begin] + "const" + text[place - begin + len("constexpr"):]
        return text

    def changed(self, choice: Choice) -> str:
        mutant = choice.mutant
        whole = self.source[choice.begin:mutant.offset] + mutant.text + self.source[mutant.end:choice.end]
        return blanked(whole + "\n").replace("\n", " ") if "//" in whole else whole.replace("\n", " ")

    def chosen(self, choices, original: str) -> str:
        for c in choices:
            asked = f"{c.asking.value}({c.number})"
            if c.mutant.kind == "dropped":
                original = f"{{ if (!{asked}) {original} }}"
            elif c.mutant.kind == "constant":
                plain = self.source[c.mutant.offset:c.mutant.end]
                original = f"({asked} ? static_cast<decltype({plain})>({c.mutant.text}) : {original})"
            elif c.mutant.text.startswith("!(") or (c.mutant.kind == "logical" and c.mutant.text == ""):
                original = f"({asked} ? static_cast<bool>({self.changed(c)}) : static_cast<bool>({original}))"
            else:
                original = f"({asked} ? ({self.changed(c)}) : ({original}))"
        return original

    def retreat(self, lines):
        """What stands in lines that do not compile asks in another way, or is taken out."""
        def near(slack):
            return [c for c in self.choices for first, last in [self.lines_of(c)]
                    if any(first - slack <= line <= last + slack for line in lines)]
        data = [c for c in self.choices if c.data is not None]  # whose use is what does not compile
        for choice in near(0) or near(2) or data or near(8) or list(self.choices):
            if choice.asking is Asking.always and choice.data is None:
                choice.asking = Asking.at_run_time
            else:
                self.choices.remove(choice)
                self.out.add(str(choice.mutant))

    def state(self):
        """How each mutant asks that is left, by the mutant, and what the source was."""
        return {"source": self.source, "asking": {str(c.mutant): c.asking.name for c in self.choices},
                "out": sorted(self.out)}

    def become(self, state):
        """What compiled before compiles again: the same source with the same mutants asks in the same way."""
        if state.get("source") != self.source:
            return
        self.out = {m for m in state["out"]}
        self.choices = [c for c in self.choices if str(c.mutant) not in self.out]
        for choice in self.choices:
            choice.asking = Asking[state["asking"].get(str(choice.mutant), choice.asking.name)]

    def lines_of(self, choice: Choice):
        return self.source.count("\n", 0, choice.begin) + 1, self.source.count("\n", 0, choice.end) + 1


def half_within(a: Choice, b: Choice) -> bool:
    return a.begin < b.begin < a.end < b.end or b.begin < a.begin < b.end < a.end


def outermost(choices):
    """The stretches that no other contains; of two that overlap, the first."""
    stretches, found = sorted({(c.begin, c.end) for c in choices}, key=lambda s: (s[0], -s[1])), []
    for stretch in stretches:
        if not found or stretch[0] >= found[-1][1]:
            found.append(stretch)
    return found
