# SPDX-License-Identifier: MIT
"""Recorded programs and perf.data as columns."""
import os
import shutil
import subprocess
import unittest
from collections.abc import Callable

import numpy as np

import pmusim
from interrupting import seconds_to_hear
from recorded import COMMAND, Recorded

EVENTS = "branches:upp"


class Traces(Recorded):
    def test_that_are_none_are_an_error(self) -> None:
        uses: list[Callable[[str], object]] = [
            pmusim.trace,
            pmusim.read_perf_data,
            lambda path: pmusim.stat(path, "cycles"),
            lambda path: pmusim.sample(path, "cycles"),
            lambda path: pmusim.record(path, "cycles", self.folder / "none"),
        ]
        for use in uses:
            with self.assertRaisesRegex(pmusim.Error, "/nowhere/x"):
                use("/nowhere/x")

    def test_are_counted(self) -> None:
        contents = pmusim.trace(self.trace)
        counts = pmusim.stat(self.trace, "instructions:u,branches:u")
        self.assertEqual(list(counts["event"]), ["instructions:u", "branches:u"])
        self.assertEqual(counts["count"][0], contents["instructions"])
        self.assertEqual(counts.attrs["instructions"], contents["instructions"])

    def test_run_under_several_processors(self) -> None:
        cpus = [pmusim.Cpu("skylake") for _ in range(2)]
        for cpu in cpus:
            cpu.wrmsr("IA32_PERFEVTSEL0", 0x4100C0)
            cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 1)
        instructions = pmusim.trace(self.trace)["instructions"]
        self.assertEqual(cpus[0].run_trace(self.trace, others=cpus[1:]), instructions)
        self.assertEqual([cpu.rdmsr("IA32_PMC0") for cpu in cpus], [instructions] * 2)
        self.assertEqual(cpus[0].now, cpus[1].now)
        few = cpus[0].run_trace(self.trace, at_most=100_000)
        self.assertLess(abs(few - 100_000), 300)

    def test_are_sampled_on_the_model_of_the_command(self) -> None:
        self.assertIn(pmusim.default_model, pmusim.models())
        shown = subprocess.run([COMMAND, "stat", "--help"], check=True, capture_output=True, text=True).stdout
        self.assertIn(f"--model TEXT={pmusim.default_model} ", shown)
        self.assertEqual(pmusim.Cpu().model, pmusim.default_model)
        unnamed = pmusim.sample(self.trace, EVENTS, period=1009)
        named = pmusim.sample(self.trace, EVENTS, period=1009, model=pmusim.default_model)
        np.testing.assert_array_equal(unnamed["time"], named["time"])


class Samples(Recorded):
    def test_are_columns(self) -> None:
        samples = pmusim.sample(self.trace, EVENTS, period=1009, branches="any", registers="ip")
        branches = int(pmusim.stat(self.trace, "branches:u")["count"][0])
        self.assertAlmostEqual(samples.rows, branches / 1009, delta=5)
        self.assertEqual(set(samples["event"]), {EVENTS})
        self.assertEqual((samples["ip"].dtype, samples["pid"].dtype), (np.uint64, np.uint32))
        self.assertTrue((samples["period"] == 1009).all())
        self.assertNotIn("weight", samples)
        with self.assertRaisesRegex(KeyError, "no column 'weight': expected one of event, ip"):
            samples["weight"]
        self.assertEqual(samples.branches["sample"].max(), samples.rows - 1)
        self.assertTrue((samples.branches["from"] != 0).all())
        self.assertEqual(samples.branches["mispredicted"].dtype, np.bool_)
        ip = samples.registers["register"] == "IP"
        np.testing.assert_array_equal(samples.registers["sample"][ip], np.arange(samples.rows))

    def test_are_the_replays_own_memory(self) -> None:
        samples = pmusim.sample(self.trace, EVENTS, period=1009)
        self.assertIs(samples["ip"], samples["ip"])
        self.assertFalse(samples["ip"].flags.owndata)
        self.assertTrue(samples["ip"].flags.writeable)

    def test_are_those_of_the_file(self) -> None:
        output = self.folder / "same.data"
        summary = pmusim.record(self.trace, EVENTS, output, period=1009, branches="any")
        samples = pmusim.sample(self.trace, EVENTS, period=1009, branches="any")
        read = pmusim.read_perf_data(output)
        self.assertEqual((summary["samples"], summary["file_bytes"]), (read.rows, output.stat().st_size))
        for name in ("event", "ip", "time", "tid"):
            np.testing.assert_array_equal(read[name], samples[name])
        for name in samples.branches:
            np.testing.assert_array_equal(read.branches[name], samples.branches[name])
        self.assertEqual(set(read["command"]), {"branches"})
        self.assertIn(os.environ["PMUSIM_WORKLOAD"], read["mapping"])
        self.assertEqual((read.lost, read.warnings), (0, []))
        self.assertEqual(read.metadata["events"], [EVENTS])

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_are_those_that_perf_shows(self) -> None:
        output = self.folder / "perf.data"
        pmusim.record(self.trace, f"{EVENTS},instructions:u", output, period=1009)
        read = pmusim.read_perf_data(output)
        script = ["perf", "script", "-i", str(output), "-F", "event,ip,tid"]
        shown = subprocess.run(script, check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in shown.splitlines()]
        self.assertEqual(len(rows), read.rows)
        self.assertEqual([int(row[0]) for row in rows], list(read["tid"]))
        self.assertEqual([row[1].rstrip(":") for row in rows], [name.rstrip(":") for name in read["event"]])
        self.assertEqual([int(row[2], 16) for row in rows], list(read["ip"]))

    def test_become_data_frames(self) -> None:
        samples = pmusim.sample(self.trace, EVENTS, period=1009, branches="any")
        try:
            frame = samples.to_pandas()
        except ModuleNotFoundError:
            self.skipTest("pandas is not installed")
        self.assertEqual(list(frame.columns), list(samples))
        self.assertEqual(frame["ip"].dtype, np.uint64)
        self.assertTrue(np.shares_memory(frame["ip"].to_numpy(), samples["ip"]))
        self.assertEqual(len(frame.groupby("event")), 1)
        self.assertEqual(samples.branches.to_pandas().groupby("sample").size().max(), 32)
        counts = pmusim.stat(self.trace, "branches:u").to_pandas()
        self.assertEqual(counts.attrs["instructions"], pmusim.trace(self.trace)["instructions"])

    def test_of_groups_have_the_counts_of_all(self) -> None:
        output = self.folder / "group.data"
        pmusim.record(self.trace, "{instructions:u,branches:u}:S", output, period=10007)
        read = pmusim.read_perf_data(output)
        names = np.array([read.metadata["event_ids"][number] for number in read.reads["id"]])
        self.assertEqual(set(names), {"instructions:u", "branches:u"})
        last = read.reads["value"][names == "instructions:u"][-1]
        self.assertLess(abs(int(last) - pmusim.trace(self.trace)["instructions"]), 10007 + 300)

    def test_of_damaged_files_say_where(self) -> None:
        output, damaged = self.folder / "whole.data", self.folder / "damaged.data"
        pmusim.record(self.trace, EVENTS, output, period=1009)
        whole = output.read_bytes()
        damaged.write_bytes(whole[:20])
        with self.assertRaisesRegex(pmusim.Error, "damaged.data"):
            pmusim.read_perf_data(damaged)
        damaged.write_bytes(whole[: len(whole) // 2])
        cut = pmusim.read_perf_data(damaged)
        self.assertLess(cut.rows, pmusim.read_perf_data(output).rows)
        self.assertTrue(cut.warnings)


@unittest.skipUnless(shutil.which("qemu-x86_64"), "qemu-user is not installed: long traces take long to record")
class LongReplays(Recorded):
    rounds = 1_000_000
    options = ["--fast"]

    def test_hear_ctrl_c_within_a_second(self) -> None:
        cpu, output = pmusim.Cpu(), self.folder / "ended.data"
        calls: list[Callable[[], object]] = [
            lambda: cpu.run_trace(self.trace),
            lambda: pmusim.stat(self.trace, "instructions:u"),
            lambda: pmusim.sample(self.trace, "instructions:u", period=10007),
            lambda: pmusim.record(self.trace, "instructions:u", output, period=10007),
        ]
        for call in calls:
            self.assertLess(seconds_to_hear(call), 1)
        read = pmusim.read_perf_data(output)
        self.assertGreater(read.rows, 0)
        self.assertLess(read.rows, pmusim.trace(self.trace)["instructions"] // 10007)


if __name__ == "__main__":
    unittest.main()
