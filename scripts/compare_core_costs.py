#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the timing model against llvm-mca and against what was measured on silicon.

    scripts/compare_core_costs.py llvm     [--program FILE] [--loops N] [--seed N] [--show]
    scripts/compare_core_costs.py kernels  [--program FILE] [--show]
    scripts/compare_core_costs.py measured [--program FILE] [--show]
    scripts/compare_core_costs.py forms    [--program FILE] [--blocks FILE]... [--rows N]

llvm: N generated loops per core, of instructions whose costs LLVM and silicon agree on (docs/core-model.md says which
do not); kernels: the loops of scripts/core_kernels.txt; measured: a chain and independent copies of every form in
src/cpu/tables/costs; forms: where the model and LLVM differ by more than a quarter over the forms of scripts/core_forms.txt,
and which of them silicon agrees with (docs/notes/llvm-mca.md): a table of the N of each core whose form is the most frequent in the
blocks of code in FILE (as scripts/compare_measured_blocks.py reads them), and counts of all. Needs Debian's llvm-19 (llvm-mca-19, llvm-mc-19) and tests/loop_cycles of a build.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parent.parent

# Model, LLVM's name, and what llvm-mca must be told of the dispatch width.
CORES = [
    ("bonnell", "bonnell", []), ("silvermont", "slm", []), ("sandybridge", "sandybridge", []),
    ("haswell", "haswell", []), ("broadwell", "broadwell", []), ("skylake", "skylake", ["-dispatch=4"]),
    ("skylake-x", "skylake-avx512", ["-dispatch=4"]), ("icelake-server", "icelake-server", ["-dispatch=5"]),
    ("goldencove", "alderlake", []), ("sapphirerapids", "sapphirerapids", []),
    ("naples", "znver1", ["-dispatch=6"]), ("rome", "znver2", ["-dispatch=6"]), ("milan", "znver3", []),
    ("genoa", "znver4", []),
]

# LLVM has one uop for what loads and computes on these, as the cores have. Small cores are their own front end, too.
SMALL = ("bonnell", "silvermont")
WHOLE = ("milan", "genoa")


def counting(name):
    return "fused" if name in SMALL else "whole" if name in WHOLE else "split"


INTEGER = ["rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13"]


def reg(rng):
    return "%" + rng.choice(INTEGER)


def xmm(rng):
    return f"%xmm{rng.randrange(12)}"


def mem(rng):
    return f"{rng.randrange(0, 64) * 8}(%rdi)"


# What a loop is drawn from: weight and text.
MIX = [
    (8, lambda r: f"addq {reg(r)},{reg(r)}"), (4, lambda r: f"subq {reg(r)},{reg(r)}"),
    (4, lambda r: f"andq {reg(r)},{reg(r)}"), (4, lambda r: f"orq {reg(r)},{reg(r)}"),
    (4, lambda r: f"xorq {reg(r)},{reg(r)}"), (3, lambda r: f"cmpq {reg(r)},{reg(r)}"),
    (3, lambda r: f"shlq ${r.randrange(1, 8)},{reg(r)}"), (3, lambda r: f"sarq ${r.randrange(1, 8)},{reg(r)}"),
    (3, lambda r: f"imull %e{r.choice(['ax', 'bx', 'cx', 'dx'])},%e{r.choice(['ax', 'bx', 'cx', 'dx'])}"),
    (8, lambda r: f"movq {mem(r)},{reg(r)}"),
    (4, lambda r: f"movq {reg(r)},{mem(r)}"),
    (2, lambda r: f"addsd {xmm(r)},{xmm(r)}"), (2, lambda r: f"mulsd {xmm(r)},{xmm(r)}"),
    (3, lambda r: f"paddd {xmm(r)},{xmm(r)}"), (1, lambda r: f"pshufd $1,{xmm(r)},{xmm(r)}"),
    (1, lambda r: f"pmullw {xmm(r)},{xmm(r)}"), (2, lambda r: f"movaps {r.randrange(64) * 16}(%rdi),{xmm(r)}"),
    (1, lambda r: f"pslld $3,{xmm(r)}"),
]


# What LLVM has wrong (docs/core-model.md): not drawn for its cores.
WRONG = {"alderlake": ("and", "or", "xor", "addsd", "movq %"), "sapphirerapids": ("and", "or", "xor", "addsd", "movq %"),
         "znver1": ("movq %", "pmullw"), "znver2": ("movq", "movaps", "pmullw"), "znver3": ("movq %",),
         "znver4": ("movq %",)}


def different(text):
    """No idiom: a register with itself is another instruction."""
    operands = text.split(None, 1)[1].split(",")
    return len(set(operands)) == len(operands)


def draw_loop(rng, cpu):
    weights = [w for w, _ in MIX]
    body = []
    length = rng.randrange(4, 17)
    while len(body) < length:
        text = rng.choices(MIX, weights)[0][1](rng)
        if different(text) and not text.startswith(WRONG.get(cpu, ())):
            body.append(text)
    return "; ".join(body)


def assemble(texts):
    """Hexadecimal code of each text, or None where the assembler refuses it."""
    out = []
    for text in texts:
        done = subprocess.run(["llvm-mc-19", "-triple=x86_64", "-show-encoding", "-mattr=+avx512f,+avx512vl"],
                              input=".L1:\n" + text.replace(";", "\n") + "\n", capture_output=True, text=True)
        if done.returncode != 0:
            out.append(None)
            continue
        code = re.findall(r"encoding: \[([^\]]*)\]", done.stdout)
        code = "".join(b[2:] if b.startswith("0x") else "00" for part in code for b in part.split(","))
        if text.endswith(".L1"):  # the loop's own branch, which is taken
            code = code[:-2] + f"{0x100 - len(code) // 2:02x}"
        out.append(code)
    return out


def llvm_cycles(cpu, options, text, iterations=400):
    done = subprocess.run(["llvm-mca-19", "-mtriple=x86_64", f"-mcpu={cpu}", f"-iterations={iterations}",
                           "-instruction-info=0", "-resource-pressure=0", *options],
                          input=text.replace(";", "\n") + "\n", capture_output=True, text=True)
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    return int(found.group(1)) / iterations if found else None


class Model:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def cycles(self, model, counting, code):
        self.process.stdin.write(f"{model} {counting} {code}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def close(ours, theirs):
    return abs(ours - theirs) <= 0.15 * theirs


def report(name, pairs, show, is_close):
    near = [pair for pair in pairs if is_close(pair[1], pair[2])]
    print(f"{name:16} {len(near):4} of {len(pairs):4}  {100 * len(near) / max(len(pairs), 1):5.1f} %")
    if show:
        for text, ours, theirs in pairs:
            if not is_close(ours, theirs):
                print(f"    {ours:8.2f} {theirs:8.2f}  {text}")


def compare_llvm(model, args):
    for name, cpu, options in CORES:
        rng = random.Random(args.seed)
        loops = [draw_loop(rng, cpu) for _ in range(args.loops)]
        pairs = []
        for text, code in zip(loops, assemble(loops)):
            theirs = llvm_cycles(cpu, options, text)
            if code and theirs:
                pairs.append((text, model.cycles(name, counting(name), code), theirs))
        report(name, pairs, args.show, close)


def compare_kernels(model, args):
    rows = [line.split("|") for line in (top / "scripts/core_kernels.txt").read_text().splitlines()
            if line and not line.startswith("#")]
    codes = assemble([row[1].strip() for row in rows])
    for name, cpu, options in CORES:
        pairs = []
        for row, code in zip(rows, codes):
            theirs = llvm_cycles(cpu, options, ".L1:; " + row[1].strip(), 1000)
            if code and theirs and cpu not in row[2].split():
                pairs.append((f"{row[0].strip()}: {row[1].strip()}", model.cycles(name, counting(name), code), theirs))
        report(name, pairs, args.show, close)


# A chain of each form and its independent copies; {n} counts registers.
MEASURED = {
    "alu": ("addq %rbx,%rax", "addq %rbx,{q}"), "adc": ("adcq %rbx,%rax", None),
    "move": ("movl %eax,%eax", None), "nop": (None, "nop"),
    "lea": ("leaq (%rax,%rbx),%rax", "leaq (%rbp,%rbx),{q}"),
    "lea_offset": ("leaq 8(%rax),%rax", "leaq 8(%rdi),{q}"),
    "lea_indexed": ("leaq (%rax,%rbx,8),%rax", "leaq (%rdi,%rbx,8),{q}"),
    "lea_three": ("leaq 8(%rax,%rbx),%rax", "leaq 8(%rbp,%rbx),{q}"),
    "lea_scaled": ("leaq 8(%rax,%rbx,8),%rax", "leaq 8(%rbp,%rbx,8),{q}"),
    "shift": ("shlq $3,%rax", "shlq $3,{q}"), "shift_by_cl": ("shlq %cl,%rax", "shlq %cl,{q}"),
    "rotate_carry_one": ("rclq $1,%rax", None), "rotate_carry": ("rclq $3,%rax", None),
    "bit_test": (None, "btq $3,%rbx"), "bswap_32": ("bswapl %eax", "bswapl {d}"),
    "compare_exchange": ("cmpxchgq %rcx,%rbx", None), "cmpxchg_8": ("cmpxchg8b (%rdi)", None),
    "push_flags": (None, "pushfq"), "string_one": (None, "lodsq"), "x87_square_root": ("fsqrt", None),
    "rotate": ("rolq $3,%rax", "rolq $3,{q}"), "double_shift": ("shldq $3,%rbx,%rax", "shldq $3,%rbx,{q}"),
    "imul_32": ("imull %ebx,%eax", "imull %ebx,{d}"), "imul_64": ("imulq %rbx,%rax", "imulq %rbx,{q}"),
    "mul_wide": ("mulq %rbx", None), "div_32": ("divl %ebx", None), "div_64": ("divq %rbx", None),
    "idiv_64": ("idivq %rbx", None), "bit_scan": ("bsfq %rax,%rax", "bsfq %rbx,{q}"),
    "popcnt": ("popcntq %rax,%rax", "popcntq %rbx,{q}"), "lzcnt": ("lzcntq %rax,%rax", "lzcntq %rbx,{q}"),
    "tzcnt": ("tzcntq %rax,%rax", "tzcntq %rbx,{q}"), "bswap": ("bswapq %rax", "bswapq {q}"),
    "pdep": ("pdepq %rbx,%rax,%rax", "pdepq %rbx,%rbx,{q}"), "cmov": ("cmoveq %rbx,%rax", "cmoveq %rbx,{q}"),
    "xchg": ("xchgq %rbx,%rax", None), "locked": ("lock addq %rax,(%rdi)", "lock addq %rax,(%rdi)"),
    "memory_fence": (None, "mfence"), "load_fence": (None, "lfence"), "store_fence": (None, "sfence"),
    "pause": (None, "pause"), "rdtsc": (None, "rdtsc"), "cpuid": (None, "cpuid"), "serialize": (None, "serialize"),
    "rdrand": (None, "rdrandq %rax"), "load_mxcsr": (None, "ldmxcsr (%rdi)"), "string": (None, "movsq"),
    "clflush": (None, "clflush (%rdi)"), "cmpxchg_16": ("cmpxchg16b (%rdi)", None),
    "x87_add": ("fadd %st(1),%st", None), "x87_multiply": ("fmul %st(1),%st", None),
    "x87_divide": ("fdiv %st(1),%st", None), "x87_transcendental": ("fsin", None),
    "sha": ("sha256rnds2 %xmm0,%xmm1,%xmm2", None),
    "compare_flags": (None, "ucomisd %xmm1,%xmm2"), "mask_bytes": (None, "pmovmskb %xmm1,%eax"),
    "vector_test": (None, "ptest %xmm1,%xmm2"), "reciprocal": ("rcpps %xmm0,%xmm0", "rcpps %xmm15,{x}"),
    "round": ("roundsd $0,%xmm0,%xmm0", "roundsd $0,%xmm15,{x}"),
    "convert_packed": ("cvtdq2ps %xmm0,%xmm0", "cvtdq2ps %xmm15,{x}"),
    "convert_to_double": ("cvtss2sd %xmm0,%xmm0", None), "convert_to_single": ("cvtsd2ss %xmm0,%xmm0", None),
    "square_root_scalar_single": ("sqrtss %xmm0,%xmm0", "sqrtss %xmm15,{x}"),
    "square_root_scalar_double": ("sqrtsd %xmm0,%xmm0", "sqrtsd %xmm15,{x}"),
    "square_root_double": ("sqrtpd %xmm0,%xmm0", "sqrtpd %xmm15,{x}"),
    "square_root_256_single": ("vsqrtps %ymm0,%ymm0", "vsqrtps %ymm15,{y}"),
    "square_root_256_double": ("vsqrtpd %ymm0,%ymm0", "vsqrtpd %ymm15,{y}"),
    "vector_shift": ("pslld $3,%xmm0", "pslld $3,{x}"),
    "permute_lanes": ("vperm2f128 $1,%ymm1,%ymm0,%ymm0", "vperm2f128 $1,%ymm14,%ymm15,{y}"),
    "insert_lane": ("vinsertf128 $1,%xmm1,%ymm0,%ymm0", "vinsertf128 $1,%xmm14,%ymm15,{y}"),
    "extract_lane": ("vextractf128 $1,%ymm0,%xmm0", "vextractf128 $1,%ymm15,{x}"),
    "carryless_multiply": ("pclmulqdq $0,%xmm1,%xmm0", "pclmulqdq $0,%xmm15,{x}"),
    "gather_single_256": ("vgatherdps %ymm2,(%rdi,%ymm1,4),%ymm0", None),
}
for form, name in {
        "add_scalar_single": "addss", "add_scalar_double": "addsd", "add_single": "addps", "add_double": "addpd",
        "multiply_scalar_single": "mulss", "multiply_scalar_double": "mulsd", "multiply_double": "mulpd",
        "divide_scalar_single": "divss", "divide_single": "divps", "divide_scalar_double": "divsd",
        "divide_double": "divpd", "minimum": "minsd", "logic": "andps", "vector_add": "paddd",
        "multiply_low_32": "pmulld", "multiply_low_16": "pmullw", "multiply_add_16": "pmaddwd",
        "multiply_wide_32": "pmuludq", "sum_differences": "psadbw", "shuffle_bytes": "pshufb",
        "shuffle": "shufps $1,", "unpack": "unpcklps", "horizontal_add": "haddps", "dot_product": "dpps $1,",
        "vector_compare": "pcmpeqb",
        "compare_quads": "pcmpgtq", "shift_by_vector": "pslld", "pack": "packuswb", "blend_words": "pblendw $3,", "horizontal_add_integer": "phaddd",
        "aes_encode": "aesenc", "aes_decode": "aesdec", "compare": "cmpeqpd"}.items():
    MEASURED[form] = (f"{name} %xmm1,%xmm0", f"{name} %xmm15," + "{x}")
for form, name in {"add_256": "vaddps", "multiply_256": "vmulps", "divide_256_single": "vdivps",
                   "divide_256_double": "vdivpd", "vector_add_256": "vpaddd", "fma_256": "vfmadd213ps",
                   "permute_words": "vpermd"}.items():
    MEASURED[form] = (f"{name} %ymm1,%ymm0,%ymm0", f"{name} %ymm14,%ymm15," + "{y}")
MEASURED["fma_scalar"] = ("vfmadd213sd %xmm1,%xmm2,%xmm0", "vfmadd213sd %xmm14,%xmm15,{x}")
MEASURED["fma_512"] = ("vfmadd213ps %zmm1,%zmm2,%zmm0", "vfmadd213ps %zmm14,%zmm15,{z}")
MEASURED["vector_compare_256"] = ("vpcmpeqb %ymm1,%ymm0,%ymm0", "vpcmpeqb %ymm14,%ymm15,{y}")
MEASURED["blend_variable_vex"] = ("vblendvps %xmm0,%xmm0,%xmm1,%xmm0", "vblendvps %xmm14,%xmm14,%xmm15,{x}")
MEASURED["compare_strings"] = (None, "pcmpistri $3,%xmm1,%xmm2")
MEASURED["blend_variable"] = ("blendvps %xmm0,%xmm1,%xmm2", "blendvps %xmm0,%xmm15,{x}")


def copies(template):
    """Enough independent copies to fill every unit."""
    if "{" not in template:
        return template
    whole = ["rax", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14"]
    half = ["eax", "edx", "esi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d"]
    low = ["al", "dl", "sil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b"]
    return "; ".join(template.format(q="%" + whole[n], d="%" + half[n], b="%" + low[n], x=f"%xmm{n + 3}", y=f"%ymm{n + 3}",
                                     z=f"%zmm{n + 3}") for n in range(10))


def measured_cores():
    """Of each column of the tables its name, and (form, latency, throughput) of the forms that were measured."""
    for path in sorted((top / "src/cpu/tables/costs").glob("*.h")):
        text = re.search(r'R"\((.*?)\)"', path.read_text(), re.S).group(1)
        # What follows a cell with a space between is the mark of its source, what follows @ are ports.
        lines = [re.sub(r" [a-z](?= |$)|@[0-9,]+", "", line).split() for line in text.splitlines() if line and line[0] != "#"]
        for n, name in enumerate(lines[0]):
            cells = [(row[0], row[n + 1].split("/")) for row in lines[1:] if "/" in row[n + 1]]
            yield name, [(form, float(cell[0]), float(cell[1])) for form, cell in cells]


def compare_measured(model, args):
    texts, cache = set(), {}
    for chain, free in MEASURED.values():
        texts |= {t for t in (chain, copies(free) if free else None) if t}
    ordered = sorted(texts)
    cache = dict(zip(ordered, assemble(ordered)))
    within = lambda ours, theirs: abs(ours - theirs) <= max(1.0, 0.15 * theirs)
    for name, rows in measured_cores():
        if name == "raptorcove":  # no model has it
            continue
        pairs = []
        for form, latency, throughput in rows:
            chain, free = MEASURED.get(form, (None, None))
            if chain and latency and cache[chain]:
                cycles = model.cycles(name, "fused", cache[chain])
                pairs.append((f"chain of {chain}", cycles, latency))
            if free and throughput and cache[copies(free)]:
                count = copies(free).count(";") + 1
                cycles = model.cycles(name, "fused", cache[copies(free)]) / count
                pairs.append((f"independent {free}", cycles, throughput))
        report(name, pairs, args.show, within)


# Model, LLVM's name, and where it has no model of that core the column of core_forms.txt.
FORM_CORES = [("goldencove", "alderlake"), ("lioncove", None), ("skymont", "gracemont")]


def form_rows():
    """Of each form its name, mnemonics, chain, copies, (latency, cycles) per core of silicon, and of LLVM's Lion Cove."""
    for line in (top / "scripts/core_forms.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, mnemonics, chain, free, *cells = re.split(r" \| ", line)
            figures = [[None if n == "-" else float(n) for n in cell.split("/")] for cell in cells]
            yield name, mnemonics, chain, free, figures


def instructions_of(paths):
    """AT&T text of the instructions of measured blocks."""
    codes = [line.split()[1] for path in paths for line in pathlib.Path(path).read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    text = "\n".join(" ".join("0x" + code[n:n + 2] for n in range(0, len(code), 2)) for code in codes)
    done = subprocess.run(["llvm-mc-19", "-triple=x86_64", "-disassemble"], input=text, capture_output=True, text=True)
    return [line.strip() for line in done.stdout.splitlines() if line.startswith("\t") and not line.startswith("\t.")]


def agree(a, b):
    """Within a quarter, or what rounding takes of a share of a cycle."""
    return abs(a - b) <= 0.05 or max(a, b) <= 1.25 * min(a, b)


def verdict(ours, llvm, silicon):
    if silicon is None:
        return "open"
    right = (agree(ours, silicon), agree(llvm, silicon))
    return {(True, False): "here", (False, True): "LLVM", (False, False): "neither", (True, True): "both"}[right]


def differences_of(row, model, code):
    """(core, what, ours, LLVM's, silicon's) of a row of forms wherever the first two differ."""
    _, _, chain, free, figures = row
    for column, (core, cpu) in enumerate(FORM_CORES):
        for which, template in enumerate((chain, free)):
            if template == "-" or code[copies(template)] is None:
                continue
            text = copies(template)
            count = 1 if which == 0 else text.count(";") + 1
            ours = model.cycles(core, "fused", code[text]) / count
            llvm = llvm_cycles(cpu, [], text) / count if cpu else figures[3][which]
            if llvm is not None and not agree(ours, llvm):
                yield core, ("latency", "throughput")[which], ours, llvm, figures[column][which]


def compare_forms(model, args):
    rows, blocks = list(form_rows()), instructions_of(args.blocks)
    texts = sorted({copies(template) for row in rows for template in row[2:4] if template != "-"})
    code = dict(zip(texts, assemble(texts)))
    table = []
    for row in rows:
        found = 0 if row[1] == "-" else sum(bool(re.match(f"v?({row[1]})", line)) for line in blocks)
        table += [(found, row[0], *difference) for difference in differences_of(row, model, code)]
    table.sort(key=lambda row: -row[0])
    cycles = lambda number: "" if number is None else f"{number:.2g}"
    print("| Form | Found | Core | Cycles of | Here | LLVM | Silicon | Right |\n|---|---|---|---|---|---|---|---|")
    for core, _ in FORM_CORES:
        for found, name, _, what, *numbers in [row for row in table if row[2] == core][:args.rows]:
            print(f"| {name} | {found} | {core} | {what} | {' | '.join(map(cycles, numbers))} | {verdict(*numbers)} |")
    print()
    for core, _ in FORM_CORES:
        right = [verdict(*row[4:]) for row in table if row[2] == core]
        print(f"{core}: {len(right)} differ,", ", ".join(
            f"{right.count(word)} {word}" for word in ("here", "LLVM", "neither", "both", "open")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["llvm", "kernels", "measured", "forms"])
    parser.add_argument("--program", default=str(top / "build/release/tests/loop_cycles"))
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", action="append", default=[], help="blocks of code, for how frequent a form is")
    parser.add_argument("--rows", type=int, default=20, help="of the table of forms, for each core")
    parser.add_argument("--show", action="store_true", help="the loops that differ: ours, theirs")
    args = parser.parse_args()
    compare = {"llvm": compare_llvm, "kernels": compare_kernels, "measured": compare_measured,
               "forms": compare_forms}
    compare[args.what](Model(args.program), args)


if __name__ == "__main__":
    sys.exit(main())
