#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what the published experiments become when one policy at a time is another.

    scripts/plot_sensitivity.py [--pmusim FILE] [--workload FILE] [--replays N] [-o docs/images/sensitivity.svg]

Left: which part of PEBS records name several events (pmusim experiment collisions), by number of events. Right: how many
samples auto counter reload takes of those that plain counters take (pmusim experiment acr). Bars are 95 % intervals,
dashed lines what was published. Needs matplotlib (Debian: python3-matplotlib) and a build.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

top = pathlib.Path(__file__).resolve().parent.parent

# A policy and its values beside the default.
COLLISIONS = [
    ("pebs_arm_cycles", (0, 2, 8, 20)), ("pebs_merge_cycles", (0, 40)), ("pebs_pmi_skid_cycles", (100,)),
    ("pebs_assist_cycles", (600,)), ("pebs_reload_scope", (1,)), ("prefetchers_off", (15,)),
]
ACR = [
    ("pmi_skid_cycles", (0, 100, 1000)), ("pmi_drain", (1,)), ("pmi_cost_cycles", (2000,)), ("acr_tie", (1,)),
    ("acr_lost_increment", (0,)), ("acr_reload_extension", (1,)), ("prefetchers_off", (15,)),
]
COLORS = ["#1f6f8b", "#c8553d", "#588157"]


def settings(policies):
    yield "default", []
    for name, values in policies:
        for value in values:
            yield f"{name}={value}", ["--policy", f"{name}={value}"]


def run(args, *words):
    done = subprocess.run([args.pmusim, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout) if "--json" in words else None


def ratio(part, whole):
    """A ratio of two counts and its 95 % interval, as of independent Poisson counts."""
    value = part / whole
    width = 1.96 * value * math.sqrt(1 / max(part, 1) + 1 / whole)
    return value, max(value - width, 0), value + width


def measure(args, trace):
    collisions, acr, published = [], [], []
    for label, options in settings(COLLISIONS):
        rows = run(args, "experiment", "collisions", "--json", "--replays", str(args.replays), *options, trace)["rows"]
        points = [(100 * r["collision_rate"], *(100 * bound for bound in r["confidence_95"])) for r in rows[:3]]
        collisions.append((label, points))
        published = [100 * r["published"] for r in rows[:3]]
    for label, options in settings(ACR):
        result = run(args, "experiment", "acr", "--json", "--trace", trace, "-c", str(args.period), *options)
        taken = ratio(result["acr"]["samples"], result["traditional"]["samples"])
        acr.append((label, [tuple(100 * t for t in taken)]))
        plain, reloaded = (result["published"][kind]["samples"] for kind in ("traditional", "acr"))
    return (collisions, published), (acr, [100 * reloaded / plain])


def panel(axes, rows, published, names, title, unit):
    series = len(published)
    for s in range(series):
        at = [row + 0.22 * (s - (series - 1) / 2) for row in range(len(rows))]
        values = [points[s] for _, points in rows]
        errors = [[max(v - low, 0) for v, low, _ in values], [max(high - v, 0) for v, _, high in values]]
        axes.errorbar([v for v, _, _ in values], at, xerr=errors, fmt="o", markersize=4, capsize=2, color=COLORS[s],
                      label=names[s])
        axes.axvline(published[s], linestyle="--", linewidth=1, color=COLORS[s])
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.set_title(title, fontsize=10)
    axes.set_xlim(left=0)
    axes.grid(axis="x", linewidth=0.3)
    axes.legend(fontsize=8)


def plot(collisions, acr, output):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "pmusim", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 5.2))
    panel(left, *collisions, ["2 events", "3 events", "4 events"], "PEBS records that name several events", "%")
    panel(right, *acr, ["samples"], "Samples with auto counter reload, of those without", "%")
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None, "Creator": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pmusim", default=str(top / "build/release/bin/pmusim"))
    parser.add_argument("--workload", default=str(top / "build/release/workloads/mispredict"))
    parser.add_argument("--replays", type=int, default=8, help="of each collision setting")
    parser.add_argument("--period", type=int, default=500, help="of the events with and without reload")
    parser.add_argument("--trace", help="a recording of the workload that is there already")
    parser.add_argument("-o", "--output", default=str(top / "docs/images/sensitivity.svg"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        trace = args.trace or f"{directory}/mispredict.pmutrace"
        if not args.trace:
            run(args, "trace", "record", "--step", "-o", trace, args.workload, "4096", "8")
        collisions, acr = measure(args, trace)
    for rows, published in (collisions, acr):
        print("published:", ", ".join(f"{value:.2f}" for value in published))
        for label, points in rows:
            print(f"{label:24}", "   ".join(f"{value:.2f} ({low:.2f}-{high:.2f})" for value, low, high in points))
    plot(collisions, acr, args.output)


if __name__ == "__main__":
    main()
