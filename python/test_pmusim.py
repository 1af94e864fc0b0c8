# SPDX-License-Identifier: MIT
"""The module as its users have it."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import pmusim

PMC0, EVTSEL0, GLOBAL_CTRL, LVTPC = 0xC1, 0x186, 0x38F, 0x834
COUNT_USER, INTERRUPT = 0x410000, 0x100000


def counting(event=0xC0, **policies):
    cpu = pmusim.Cpu("skylake", **policies)
    cpu.wrmsr(EVTSEL0, COUNT_USER | event)
    cpu.wrmsr(GLOBAL_CTRL, 1)
    return cpu


class Registers(unittest.TestCase):
    def test_are_read_and_written_by_address_and_by_name(self):
        cpu = pmusim.Cpu("skylake")
        cpu.wrmsr("IA32_PMC0", 5)
        self.assertEqual(cpu.rdmsr(PMC0), 5)
        self.assertEqual(cpu.rdpmc(0), 5)

    def test_fault_as_silicon_does(self):
        cpu = pmusim.Cpu("skylake")
        with self.assertRaisesRegex(pmusim.Fault, "#GP"):
            cpu.rdmsr(0xDEAD)
        with self.assertRaisesRegex(pmusim.Fault, "#PF"):
            cpu.write(0x1000, b"x")
        with self.assertRaisesRegex(pmusim.Error, "IA32_PMC0"):
            cpu.rdmsr("IA32_PMCO")

    def test_say_why_they_fault(self):
        cpu = pmusim.Cpu("skylake")
        with self.assertRaises(pmusim.Fault) as fault:
            cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 0x10)
        self.assertEqual(
            str(fault.exception),
            "wrmsr IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved on Skylake "
            "(enable PMCn (bit n): bits 3:0)",
        )
        with self.assertRaisesRegex(pmusim.Fault, "MSR_PERF_METRICS.*Skylake has no such register"):
            cpu.rdmsr(0x329)
        with self.assertRaisesRegex(pmusim.Fault, "1 bytes at 0x1000 are not mapped"):
            cpu.write(0x1000, b"x")
        with self.assertRaisesRegex(pmusim.Fault, "CR4.PCE"):
            cpu.rdpmc(0, ring=3)

    def test_are_listed_as_columns(self):
        registers = pmusim.Cpu("skylake").registers()
        at = registers["name"].index("IA32_PERF_GLOBAL_CTRL")
        self.assertEqual(registers["address"][at], GLOBAL_CTRL)
        self.assertEqual(registers["writable"][at], 0x7_0000_000F)
        self.assertEqual(registers["address"].dtype, np.uint32)

    def test_of_every_model(self):
        self.assertGreater(len(pmusim.models()), 30)
        for model in pmusim.models():
            self.assertEqual(pmusim.Cpu(model).cpuid(0)[1], 0x756E6547)

    def test_of_no_model_are_an_error(self):
        with self.assertRaisesRegex(pmusim.Error, "skylake"):
            pmusim.Cpu("skylale")
        with self.assertRaisesRegex(pmusim.Error, "pmi_skid_cycles"):
            pmusim.Cpu("skylake", pmi_skid_cycle=1)
        self.assertIn("pmi_skid_cycles", pmusim.policies())


class Feeding(unittest.TestCase):
    def test_instructions_at_both_rings(self):
        cpu = counting()
        cpu.instructions(100)
        cpu.instructions(7, ring=0)
        cpu.wait(10)
        self.assertEqual(cpu.rdmsr(PMC0), 100)
        self.assertEqual(cpu.now, 117)
        with self.assertRaisesRegex(pmusim.Error, "ring is 1"):
            cpu.instructions(1, ring=1)

    def test_programs(self):
        program = pmusim.Program()
        with program.loop(10, mispredicted_exit=1):
            program.load(0x1000, stride=64, level="l2")
            with program.around("TN"):
                program.instructions(3)
            with program.call():
                program.jump()
        cpu = counting()
        cpu.run(program)
        self.assertEqual(cpu.rdmsr(PMC0), 10 * (1 + 1 + 3 + 1) + 5 * 3)
        with self.assertRaisesRegex(pmusim.Error, "no level"):
            program.load(0, level="l9")

    def test_code(self):
        cpu = counting()
        self.assertEqual(cpu.run_code(b"\x90\x90\xC3", next_ip=0x5000), 3)
        self.assertEqual(cpu.rdmsr(PMC0), 3)
        with self.assertRaisesRegex(pmusim.Error, "0x401000"):
            cpu.run_code(b"\x06")


class Interrupts(unittest.TestCase):
    def sampling(self, handler):
        cpu = counting(INTERRUPT | 0xC0, pmi_skid_cycles=5)
        cpu.on_pmi(handler)
        cpu.wrmsr(LVTPC, 0x400)
        cpu.wrmsr(PMC0, 2**32 - 100)
        return cpu

    def test_enter_the_handler(self):
        seen = []
        cpu = self.sampling(seen.append)
        cpu.instructions(200)
        self.assertEqual([(i.cycle, i.ip, i.ring, i.gpr) for i in seen], [(105, 0x401000 + 4 * 104, 3, None)])

    def test_exceptions_of_a_handler_come_out_of_the_feed(self):
        def handler(interrupt):
            raise KeyError("mine")

        cpu = self.sampling(handler)
        with self.assertRaisesRegex(KeyError, "mine"):
            cpu.instructions(200)
        cpu.instructions(10)
        self.assertEqual(cpu.now, 210)


class Insight(unittest.TestCase):
    def test_truth_does_not_depend_on_the_counters(self):
        cpu = counting()
        number = cpu.truth(0x100C0)
        cpu.instructions(50)
        cpu.wrmsr(GLOBAL_CTRL, 0)
        cpu.instructions(50)
        self.assertEqual(cpu.rdmsr(PMC0), 50)
        self.assertEqual(cpu.true_count(number), 100)

    def test_hardware_events_are_columns(self):
        cpu = counting()
        cpu.wrmsr(PMC0, 2**32 - 10)
        cpu.watch(1 << pmusim.OVERFLOW)
        cpu.instructions(20)
        events = cpu.events()
        np.testing.assert_array_equal(events["cycle"], [10])
        np.testing.assert_array_equal(events["kind"], [pmusim.OVERFLOW])

    def test_snapshots(self):
        cpu = counting()
        before = cpu.snapshot()
        self.assertEqual(cpu.compare(before), "")
        cpu.instructions(5)
        self.assertIn("cycle is 5", cpu.compare(before))
        cpu.restore(before)
        self.assertEqual(cpu.rdmsr(PMC0), 0)


class Traces(unittest.TestCase):
    def test_that_are_none_are_an_error(self):
        for use in [pmusim.trace, lambda path: pmusim.stat(path, "cycles"), lambda path: pmusim.sample(path, "cycles")]:
            with self.assertRaisesRegex(pmusim.Error, "/nowhere/x"):
                use("/nowhere/x")

    @unittest.skipUnless(os.environ.get("PMUSIM_COMMAND"), "no command to record with")
    def test_are_counted_and_sampled(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "branches.pmutrace")
            command, program = os.environ["PMUSIM_COMMAND"], os.environ["PMUSIM_WORKLOAD"]
            subprocess.run([command, "trace", "record", "-o", path, "--", program, "100"], check=True, capture_output=True)
            self.check_counts_and_samples(path)

    def check_counts_and_samples(self, path):
        contents = pmusim.trace(path)
        counts = pmusim.stat(path, "instructions:u,branches:u")
        self.assertEqual(counts["event"], ["instructions:u", "branches:u"])
        self.assertEqual(counts["count"][0], contents["instructions"])
        samples = pmusim.sample(path, "branches:upp", period=1009, branches="any")
        self.assertAlmostEqual(len(samples["ip"]), counts["count"][1] / 1010, delta=5)
        self.assertTrue((samples["branch_from"] != 0).all())
        self.assertEqual(samples["branch_sample"].max(), len(samples["ip"]) - 1)
        cpu = counting()
        self.assertEqual(cpu.run_trace(path), contents["instructions"])
        self.assertEqual(cpu.rdmsr(PMC0), contents["instructions"])


class Examples(unittest.TestCase):
    def test_get_to_the_first_sample_in_ten_lines(self):
        example = pathlib.Path(__file__).parents[1] / "examples" / "python" / "first_pebs.py"
        self.assertLessEqual(len(example.read_text().splitlines()), 10)


if __name__ == "__main__":
    unittest.main()
