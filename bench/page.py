#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the figures of docs/benchmarks.md from what google benchmark prints: page.py PAGE FOLDER NAME..."""
import json
import math
import pathlib
import platform
import sys

HEADING = "## Figures"
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def fastest_rows(result):
    """The fastest repetition of each row, by name, in their order."""
    rows = {}
    for run in result["benchmarks"]:
        if run.get("run_type") != "iteration" or "error_occurred" in run:
            continue
        run["ns"] = run["cpu_time"] * NANOSECONDS[run["time_unit"]]
        name = run["run_name"]
        if name not in rows or run["ns"] < rows[name]["ns"]:
            rows[name] = run
    order = lambda run: (run["family_index"], run["per_family_instance_index"])
    return dict(sorted(rows.items(), key=lambda row: order(row[1])))


def copy_ns(rows, bytes_copied):
    """What memcpy of so many bytes took in the same run, by the size that is nearest."""
    copies = {int(name.rsplit("/", 1)[1]): run["ns"] for name, run in rows.items() if name.startswith("yardstick/copy/")}
    nearest = min(copies, key=lambda size: abs(math.log(size / max(bytes_copied, 1))))
    return copies[nearest] * bytes_copied / nearest


def time_text(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.3g} ns"


def rate_text(rate):
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= scale:
            return f"{rate / scale:.3g} {unit}/s"
    return f"{rate:.3g} /s"


def cells(rows, run):
    """Time, rate, yardstick and how many times as long as it."""
    if "x_memcpy" in run:  # the program copies the same bytes itself
        ns = run["memcpy_ns"] * run["x_memcpy"]
        beside = f"memcpy of the same bytes {time_text(run['memcpy_ns'])}"
        if "each_sample_ns" in run:
            beside += f"; sample by sample {time_text(run['each_sample_ns'])}"
        return time_text(ns), "", beside, f"{run['x_memcpy']:.3g}"
    if "bytes_per_second" in run:
        size = run["bytes_per_second"] * run["ns"] / 1e9
        copied = copy_ns(rows, size)
        return (time_text(run["ns"]), rate_text(run["bytes_per_second"]).replace("/s", "B/s"),
                f"memcpy of the same bytes {time_text(copied)}", f"{run['ns'] / copied:.3g}")
    rate = run.get("items_per_second", run.get("instructions/s"))
    each = 1e9 / rate if rate else run["ns"]
    line = copy_ns(rows, 64)
    return (time_text(run["ns"]), rate_text(rate) if rate else "",
            f"memcpy of 64 bytes {time_text(line)}", f"{each / line:.3g}" + (" each" if rate else ""))


def table(name, result):
    rows = fastest_rows(result)
    lines = [f"### bench_{name}", "", "| Row | Time | Rate | Beside it, in the same run | Times as long |",
             "|---|---:|---:|---|---:|"]
    for row, run in rows.items():
        if not row.startswith("yardstick/"):
            lines.append("| " + " | ".join((f"`{row}`",) + cells(rows, run)) + " |")
    return lines + [""]


def yardsticks(results):
    """Bandwidths of the first program that has them."""
    for result in results:
        rows = fastest_rows(result)
        found = [f"{name.split('/')[1]} of {int(name.rsplit('/', 1)[1]):,} bytes {run['bytes_per_second'] / 1e9:.3g} GB/s"
                 for name, run in rows.items() if name.startswith("yardstick/")]
        if found:
            return "; ".join(found)
    return ""


def main():
    page, folder, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    results = [json.loads((folder / f"{name}.json").read_text()) for name in names]
    context = results[0]["context"]
    before = page.read_text().split(HEADING)[0].rstrip()
    lines = [before, "", HEADING, "",
             f"By `bench/run.sh` on {context['date'][:10]}: {processor()}, {context['num_cpus']} CPUs, "
             f"load {context['load_avg'][0]:.1f}. The fastest of several repetitions, which took turns; processor time. "
             "Where a row moves bytes, memcpy of as many is beside it, else memcpy of a cache line; both of the same run.",
             "", f"Memory: {yardsticks(results)}.", ""]
    for name, result in zip(names, results):
        lines += table(name, result)
    page.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
