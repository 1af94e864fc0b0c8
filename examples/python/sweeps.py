#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two experiments that silicon does not allow: how often PEBS records of two counters collide, by the time that an
assist takes to arm; and which share of code with so many mispredicts auto counter reload samples, by the size of its
window. Prints both; --plot FILE draws them."""
import argparse
import struct

import numpy as np

import pmusim

USR, INT, EN = 1 << 16, 1 << 20, 1 << 22
BRANCHES, INSTRUCTIONS, MISPREDICTS = 0xC4, 0xC0, 0xC5


def collision_rate(arm_cycles: int) -> float:
    """Share of the records of two counters that name both: branches every 97, instructions every 1013."""
    area, buffer, record_bytes = 0x10000, 0x20000, 192
    end = buffer + 4096 * record_bytes
    cpu = pmusim.Cpu("haswell", pebs_arm_cycles=arm_cycles)
    cpu.map(area, 4096)
    cpu.map(buffer, end - buffer)
    periods = [97, 1013]
    reset = [2**48 - period for period in periods]
    cpu.write(area + 0x20, struct.pack("<6Q", buffer, buffer, end, end, *reset))
    cpu.wrmsr("IA32_DS_AREA", area)
    for counter, event in enumerate([BRANCHES, INSTRUCTIONS]):
        cpu.wrmsr(0xC1 + counter, 2**32 - periods[counter])
        cpu.wrmsr(0x186 + counter, EN | USR | event)
    cpu.wrmsr("IA32_PEBS_ENABLE", 3)
    cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 3)
    program = pmusim.Program()
    with program.loop(50000):
        program.instructions(9)
    cpu.run(program)
    index = struct.unpack("<Q", cpu.read(area + 0x28, 8))[0]
    records = np.frombuffer(cpu.read(buffer, index - buffer), dtype="<u8").reshape(-1, record_bytes // 8)
    owners = records[:, 0x90 // 8] & 3
    return float(np.count_nonzero(owners == 3) / len(owners))


def sampled(mispredicts: int, window: int, outcomes: str, iterations: int = 5000) -> int:
    """Samples that auto counter reload takes of a loop: so many mispredicts within a window of branches."""
    cpu = pmusim.Cpu("skymont")
    samples: list[int] = []

    def value(counter: int, size: int) -> None:
        cpu.wrmsr(0x1900 + 4 * counter, 2**48 - size)

    def handle(interrupt: pmusim.Interrupt) -> None:
        samples.append(interrupt.ip)
        value(2, mispredicts)
        value(3, window)
        cpu.wrmsr("IA32_PERF_GLOBAL_STATUS_RESET", 4)
        cpu.wrmsr(0x834, 0x400)

    cpu.on_pmi(handle)
    cpu.wrmsr(0x834, 0x400)
    for counter, causes, size in [(2, 1 << 3, mispredicts), (3, 1 << 2 | 1 << 3, window)]:
        cpu.wrmsr(0x1902 + 4 * counter, causes)
        cpu.wrmsr(0x1903 + 4 * counter, 2**32 - size)
        value(counter, size)
    cpu.wrmsr(0x188, EN | USR | INT | MISPREDICTS)
    cpu.wrmsr(0x189, EN | USR | BRANCHES)
    cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 0xC)
    program = pmusim.Program()
    with program.loop(iterations):
        with program.around(outcomes):
            program.instructions(6)
    cpu.run(program)
    return len(samples)


def plot(
    path: str, arming: list[int], rates: list[float], windows: list[int], good: list[int], bad: list[int]
) -> None:
    import matplotlib.pyplot as pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    left.plot(arming, [100 * rate for rate in rates], "o-")
    left.set(xlabel="cycles from overflow to armed", ylabel="collided records, %", title="PEBS collisions")
    right.plot(windows, bad, "o-", label="1 branch in 6 mispredicted")
    right.plot(windows, good, "o-", label="1 branch in 20 mispredicted")
    right.set(xlabel="branches in a window", ylabel="samples", title="ACR: two mispredicts in a window")
    right.legend()
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="draw both (needs matplotlib)")
    options = parser.parse_args()
    arming = [0, 2, 4, 8, 16, 32, 64, 128]
    rates = [collision_rate(cycles) for cycles in arming]
    print("arm cycles  collided")
    for cycles, rate in zip(arming, rates):
        print(f"{cycles:10}  {rate:8.2%}")
    windows = [8, 16, 24, 32, 40, 48]
    good = [sampled(2, window, "TTTTTTTTTt") for window in windows]
    bad = [sampled(2, window, "TTt") for window in windows]
    print("\nwindow  samples at 1 in 20  at 1 in 6")
    for row in zip(windows, good, bad):
        print(f"{row[0]:6}  {row[1]:18}  {row[2]:9}")
    assert rates[4:] == sorted(rates[4:]) and rates[-1] > 5 * max(rates[:4]), "a longer delay collides more"
    assert good[0] == 0 and bad[0] > 0, "a narrow window finds the bad code alone"
    if options.plot:
        plot(options.plot, arming, rates, windows, good, bad)


if __name__ == "__main__":
    main()
