# SPDX-License-Identifier: MIT
"""A processor, and what it is fed."""
import gc
import threading
import time
import unittest
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import pmusim
from interrupting import press_soon, seconds_to_hear
from pmusim import Access, Cpu, EventKind, Instruction, Program

PMC0, EVTSEL0, GLOBAL_CTRL, LVTPC = 0xC1, 0x186, 0x38F, 0x834
COUNT_USER, COUNT_KERNEL, INTERRUPT = 0x410000, 0x420000, 0x100000
ENDLESS = 2**62


def counting(event: int = 0xC0, **policies: object) -> Cpu:
    cpu = Cpu("skylake", **policies)
    cpu.wrmsr(EVTSEL0, COUNT_USER | event)
    cpu.wrmsr(GLOBAL_CTRL, 1)
    return cpu


def endless() -> Program:
    program = Program()
    with program.loop(ENDLESS):
        program.instructions(3)
    return program


class Registers(unittest.TestCase):
    def test_are_read_and_written_by_address_and_by_name(self) -> None:
        cpu = Cpu("skylake")
        cpu.wrmsr("IA32_PMC0", 5)
        self.assertEqual(cpu.rdmsr(PMC0), 5)
        self.assertEqual(cpu.rdpmc(0), 5)

    def test_fault_as_silicon_does(self) -> None:
        cpu = Cpu("skylake")
        with self.assertRaisesRegex(pmusim.Fault, "#GP") as general:
            cpu.rdmsr(0xDEAD)
        with self.assertRaisesRegex(pmusim.Fault, "#PF") as page:
            cpu.write(0x1000, b"x")
        with self.assertRaisesRegex(pmusim.Error, "IA32_PMC0"):
            cpu.rdmsr("IA32_PMCO")
        self.assertEqual((general.exception.vector, general.exception.error_code), (13, 0))
        self.assertEqual((page.exception.vector, page.exception.error_code), (14, 2))

    def test_say_why_they_fault(self) -> None:
        cpu = Cpu("skylake")
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

    def test_of_ring_3_need_cr4_pce(self) -> None:
        cpu = Cpu("skylake")
        with self.assertRaisesRegex(pmusim.Fault, "CR4.PCE"):
            cpu.rdpmc(0, ring=3)
        cpu.set_control(pce=True)
        self.assertEqual(cpu.rdpmc(0, ring=3), 0)

    def test_are_listed_as_columns(self) -> None:
        registers = Cpu("skylake").registers()
        at = list(registers["name"]).index("IA32_PERF_GLOBAL_CTRL")
        self.assertEqual(registers["address"][at], GLOBAL_CTRL)
        self.assertEqual(registers["writable"][at], 0x7_0000_000F)
        self.assertEqual(registers["address"].dtype, np.uint32)
        status = list(registers["name"]).index("IA32_PERF_GLOBAL_STATUS")
        self.assertEqual((registers["read_only"][status], registers["read_only"][at]), (True, False))

    def test_of_every_model(self) -> None:
        vendors = [Cpu(model).cpuid(0)[1] for model in pmusim.models()]
        self.assertEqual(vendors.count(0x756E6547), 41)  # "Genu"
        self.assertEqual(vendors.count(0x68747541), 16)  # "Auth"
        self.assertEqual(len(vendors), 57)

    def test_of_no_model_are_an_error(self) -> None:
        with self.assertRaisesRegex(pmusim.Error, "skylake"):
            Cpu("skylale")
        with self.assertRaisesRegex(pmusim.Error, "pmi_skid_cycles"):
            Cpu("skylake", pmi_skid_cycle=1)
        self.assertIn("pmi_skid_cycles", pmusim.policies())

    def test_take_their_reset_values(self) -> None:
        cpu = counting()
        cpu.reset()
        self.assertEqual(cpu.rdmsr(EVTSEL0), 0)

    def test_of_the_clock_follow_it(self) -> None:
        cpu = Cpu()
        before = cpu.rdtsc()
        cpu.wait(10**6)
        self.assertGreater(cpu.rdtsc(), before)


class ExtendedState(unittest.TestCase):
    def test_goes_to_memory_and_back(self) -> None:
        cpu = Cpu("icelake")
        cpu.xsetbv(0, 7)
        self.assertEqual(cpu.xgetbv(0), 7)
        cpu.map(0x10000, 4096)
        for save in (cpu.xsave, cpu.xsaveopt, cpu.xsavec, cpu.xsaves):
            save(0x10000, 7)
            self.assertEqual(int.from_bytes(cpu.read(0x10200, 8), "little") & ~7, 0)
        cpu.xrstors(0x10000, 7)
        cpu.xsave(0x10000, 7)
        cpu.write(0x10208, bytes(8))
        cpu.xrstor(0x10000, 7)
        with self.assertRaisesRegex(pmusim.Fault, "#GP"):
            cpu.xsave(0x10001, 7)
        with self.assertRaisesRegex(pmusim.Fault, "#GP"):
            cpu.xsetbv(0, 0)


class Memory(unittest.TestCase):
    def test_shows_itself_without_a_copy(self) -> None:
        cpu = Cpu()
        cpu.map(0x10000, 4096)
        cpu.write(0x10010, b"abc")
        memory = cpu.memory(0x10000, 4096)
        self.assertEqual(memory[0x10:0x13].tobytes(), b"abc")
        memory[0] = 7
        self.assertEqual(cpu.read(0x10000, 1), b"\7")

    def test_stays_while_an_array_shows_it(self) -> None:
        cpu = Cpu()
        cpu.map(0x10000, 4096)
        taken = cpu.snapshot()
        memory = cpu.memory(0x10000, 4096)
        half = memory[2048:]
        del memory
        changes: list[Callable[[], object]] = [lambda: cpu.unmap(0x10000), lambda: cpu.restore(taken)]
        for change in changes:
            with self.assertRaises(BufferError):
                change()
        del half
        cpu.restore(taken)
        cpu.unmap(0x10000)
        with self.assertRaisesRegex(pmusim.Error, "not mapped"):
            cpu.memory(0x10000, 1)

    def test_outlives_its_processor_in_an_array(self) -> None:
        cpu = Cpu()
        cpu.map(0x10000, 4096)
        memory = cpu.memory(0x10000, 4096)
        del cpu
        memory[:] = 1
        self.assertEqual(memory.sum(), 4096)

    def test_may_be_the_callers(self) -> None:
        cpu = Cpu()
        lent = np.zeros(512, np.uint64)
        cpu.map_shared(0x20000, lent)
        cpu.write(0x20008, (5).to_bytes(8, "little"))
        self.assertEqual(lent[1], 5)
        lent[2] = 9
        self.assertEqual(cpu.read(0x20010, 1), b"\x09")
        with self.assertRaises((BufferError, ValueError)):
            cpu.map_shared(0x40000, np.zeros(64)[::2])
        with self.assertRaises(BufferError):
            cpu.map_shared(0x40000, b"read only")  # type: ignore[arg-type]
        cpu.unmap(0x20000)

    def test_that_is_lent_stays_as_long_as_a_snapshot(self) -> None:
        cpu, other = Cpu(), Cpu()
        lent = bytearray(4096)
        cpu.map_shared(0x20000, lent)
        other.restore(cpu.snapshot())
        del cpu
        with self.assertRaises(BufferError):
            lent.append(0)
        other.write(0x20000, b"x")
        self.assertEqual(lent[0], ord("x"))


class Feeding(unittest.TestCase):
    def test_instructions_at_both_rings(self) -> None:
        cpu = counting()
        cpu.instructions(100)
        cpu.instructions(7, ring=0)
        cpu.wait(10)
        self.assertEqual(cpu.rdmsr(PMC0), 100)
        self.assertEqual(cpu.now, 117)
        with self.assertRaisesRegex(pmusim.Error, "ring is 1"):
            cpu.instructions(1, ring=1)  # type: ignore[arg-type]

    def test_programs(self) -> None:
        program = Program()
        with program.loop(10, mispredicted_exit=True):
            program.load(0x1000, stride=64, level="l2")
            with program.around("TN"):
                program.instructions(3)
            with program.call():
                program.jump()
        cpu = counting()
        cpu.run(program)
        self.assertEqual(cpu.rdmsr(PMC0), 10 * (1 + 1 + 3 + 1) + 5 * 3)
        with self.assertRaisesRegex(pmusim.Error, "no level 'l9'.*'memory'"):
            program.load(0, level="l9")  # type: ignore[arg-type]

    def test_code(self) -> None:
        cpu = counting()
        self.assertEqual(cpu.run_code(b"\x90\x90\xC3", next_ip=0x5000), 3)
        self.assertEqual(cpu.rdmsr(PMC0), 3)
        with self.assertRaisesRegex(pmusim.Error, "0x401000"):
            cpu.run_code(b"\x06")

    def test_instructions_that_are_described(self) -> None:
        cpu = counting(0x08D1)  # MEM_LOAD_RETIRED.L1_MISS
        cpu.wrmsr(EVTSEL0 + 1, COUNT_USER | 0x20C4)  # BR_INST_RETIRED.NEAR_TAKEN
        cpu.wrmsr(EVTSEL0 + 2, COUNT_USER | 0x04C3)  # MACHINE_CLEARS.SMC
        cpu.wrmsr(GLOBAL_CTRL, 7)
        cpu.retire(Instruction(ip=0x1000, accesses=[Access(0x5000, level="l2")]))
        cpu.retire(
            Instruction(branch="conditional", taken=taken, next_ip=0x2000 if taken else 0)
            for taken in (True, False, True)
        )
        cpu.retire([Instruction(branch="syscall", ring_after=0), Instruction(ring=0, accesses=[Access(0, level="l2")])])
        cpu.retire(Instruction(signals=["machine_clear", "self_modifying_clear"], quantities={"uops": 2}))
        self.assertEqual([cpu.rdpmc(n) for n in range(3)], [1, 2, 1])
        self.assertEqual(cpu.now, 7)
        with self.assertRaisesRegex(pmusim.Error, "fp_scalar_double"):
            Instruction(signals=["fp_scalar_duoble"])
        with self.assertRaisesRegex(pmusim.Error, "no kind of branch 'jump'"):
            Instruction(branch="jump")  # type: ignore[arg-type]


class Interrupts(unittest.TestCase):
    def sampling(self, handler: Callable[[pmusim.Interrupt], object]) -> Cpu:
        cpu = counting(INTERRUPT | 0xC0, pmi_skid_cycles=5)
        cpu.on_pmi(handler)
        cpu.wrmsr(LVTPC, 0x400)
        cpu.wrmsr(PMC0, 2**32 - 100)
        return cpu

    def test_enter_the_handler(self) -> None:
        seen: list[pmusim.Interrupt] = []
        cpu = self.sampling(seen.append)
        cpu.instructions(200)
        self.assertEqual([(i.cycle, i.ip, i.ring, i.gpr) for i in seen], [(105, 0x401000 + 4 * 104, 3, None)])

    def test_whose_handlers_raise_come_out_of_the_feed(self) -> None:
        def handler(interrupt: pmusim.Interrupt) -> None:
            raise KeyError("mine")

        cpu = self.sampling(handler)
        with self.assertRaisesRegex(KeyError, "mine"):
            cpu.instructions(200)
        cpu.instructions(10)
        self.assertEqual(cpu.now, 210)

    def test_whose_handlers_raise_end_what_is_long(self) -> None:
        def handler(interrupt: pmusim.Interrupt) -> None:
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            self.sampling(handler).run(endless())

    def test_do_not_keep_a_processor_alive(self) -> None:
        class Handler:
            def __init__(self) -> None:
                self.cpu = counting()
                self.cpu.on_pmi(self.handle)

            def handle(self, interrupt: pmusim.Interrupt) -> None:
                pass

        handler = Handler()
        seen = weakref.ref(handler)
        del handler
        gc.collect()
        self.assertIsNone(seen())


class LongCalls(unittest.TestCase):
    def test_hear_ctrl_c_within_a_second(self) -> None:
        cpu, program = counting(), endless()
        calls: list[Callable[[], object]] = [
            lambda: cpu.run(program),
            lambda: cpu.instructions(ENDLESS),
            lambda: pmusim.explore(cpu, lambda cpu, run: cpu.run(program)),
        ]
        for call in calls:
            self.assertLess(seconds_to_hear(call), 1)
        before = cpu.now
        cpu.instructions(10)
        self.assertEqual(cpu.now, before + 10)

    def test_let_other_threads_run_but_not_on_the_processor(self) -> None:
        cpu, program = counting(), endless()
        refusals: list[str] = []

        def other() -> None:
            time.sleep(0.1)  # the main thread is in the long call
            calls: list[Callable[[], Any]] = [lambda: cpu.rdmsr(PMC0), lambda: program.jump()]
            for call in calls:
                try:
                    call()
                except pmusim.Error as refused:
                    refusals.append(str(refused))

        thread, pressing = threading.Thread(target=other), press_soon()
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            cpu.run(program)
        thread.join()
        pressing.join()
        self.assertEqual(refusals, ["another thread feeds the processor", "the program is running"])
        program.jump()


class Insight(unittest.TestCase):
    def test_truth_does_not_depend_on_the_counters(self) -> None:
        cpu = counting()
        number = cpu.truth(0x100C0)
        cpu.instructions(50)
        cpu.wrmsr(GLOBAL_CTRL, 0)
        cpu.instructions(50)
        self.assertEqual(cpu.rdmsr(PMC0), 50)
        self.assertEqual(cpu.true_count(number), 100)
        self.assertEqual((cpu.assists(), cpu.assists("full"), cpu.acr_reloads(0)), (0, 0, 0))

    def test_hardware_events_are_columns(self) -> None:
        cpu = counting()
        cpu.wrmsr(PMC0, 2**32 - 10)
        cpu.watch(EventKind.OVERFLOW, EventKind.REGISTER_WRITE)
        cpu.instructions(20)
        cpu.wrmsr(PMC0, 3)
        events = cpu.events()
        np.testing.assert_array_equal(events["cycle"], [10, 20])
        np.testing.assert_array_equal(events["kind"], [EventKind.OVERFLOW, EventKind.REGISTER_WRITE])
        self.assertEqual(events["value"][1], 3)
        self.assertEqual(cpu.events().rows, 0)

    def test_an_observer_sees_them_one_by_one(self) -> None:
        cpu = counting()
        seen: list[pmusim.Event] = []
        cpu.observe(seen.append, EventKind.ACCESS_FAULT)
        with self.assertRaises(pmusim.Fault):
            cpu.rdmsr(0xDEAD)
        self.assertEqual([(e.kind, e.address, e.vector) for e in seen], [(EventKind.ACCESS_FAULT, 0xDEAD, 13)])
        cpu.observe(lambda event: cpu.wrmsr(PMC0, 1), EventKind.REGISTER_WRITE)
        with self.assertRaisesRegex(pmusim.Error, "observer must not change"):
            cpu.wrmsr(PMC0, 2)
        self.assertEqual(cpu.rdmsr(PMC0), 2)

    def test_snapshots(self) -> None:
        cpu = counting()
        before = cpu.snapshot()
        self.assertEqual(cpu.compare(before), "")
        cpu.instructions(5)
        self.assertIn("cycle is 5", cpu.compare(before))
        cpu.restore(before)
        self.assertEqual(cpu.rdmsr(PMC0), 0)


class Exploration(unittest.TestCase):
    """A driver that reads a counter and clears it loses what a handler adds between the two."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.total = 0

    def collect(self, cpu: Cpu) -> None:
        self.total += cpu.rdmsr(PMC0)
        cpu.wrmsr(PMC0, 0)

    def careless(self, cpu: Cpu, run: pmusim.Run) -> None:
        self.total = 0
        handled = []
        cpu.on_pmi(lambda interrupt: handled.append(interrupt.ip))
        cpu.wrmsr(LVTPC, 0x400)
        cpu.wrmsr(PMC0, 2**32 - 1000)
        cpu.wrmsr(EVTSEL0, COUNT_KERNEL | INTERRUPT | 0xC0)
        run.open()
        cpu.wrmsr(GLOBAL_CTRL, 1)
        cpu.instructions(1, ring=0)
        cpu.wrmsr(GLOBAL_CTRL, 0)
        run.close()
        assert not handled, "a PMI came"

    def test_finds_the_placement_that_breaks_a_driver(self) -> None:
        cpu = Cpu("skylake")
        report = pmusim.explore(cpu, self.careless)
        self.assertTrue(report.found)
        self.assertIn("a PMI came", report.text)
        self.assertGreater(report.boundaries, 2)
        again = pmusim.explore_replay(cpu, self.careless, report.seed)
        self.assertEqual(again.text, report.text)
        self.assertEqual((cpu.now, cpu.rdmsr(EVTSEL0)), (0, 0))

    def test_tries_all_placements_of_a_sound_driver(self) -> None:
        state = bytearray(1)

        def sound(cpu: Cpu, run: pmusim.Run) -> None:
            run.state(state)
            run.open()
            self.collect(cpu)
            run.boundary()
            run.close()

        report = pmusim.explore(Cpu("skylake"), sound, causes=["spurious"], most_pmis=2)
        self.assertTrue(report.complete)
        self.assertFalse(report.found)
        self.assertGreater(report.runs, 3)

    def test_ends_with_what_a_scenario_raises(self) -> None:
        runs: list[pmusim.Run] = []

        def broken(cpu: Cpu, run: pmusim.Run) -> None:
            runs.append(run)
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            pmusim.explore(Cpu("skylake"), broken)
        with self.assertRaisesRegex(pmusim.Error, "the run is over"):
            runs[0].open()

    def test_refuses_arrays_of_memory_that_changes(self) -> None:
        cpu = Cpu("skylake")
        cpu.map(0x1000, 16)
        with self.assertRaisesRegex(pmusim.Error, "expected read"):
            pmusim.explore(cpu, lambda cpu, run: cpu.memory(0x1000, 16))
        memory = cpu.memory(0x1000, 16)
        with self.assertRaises(BufferError):
            pmusim.explore(cpu, lambda cpu, run: None)
        self.assertEqual(len(memory), 16)


if __name__ == "__main__":
    unittest.main()
