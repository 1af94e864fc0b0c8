# SPDX-License-Identifier: MIT
# Types of the compiled module. Its docstrings are those that stand here.
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from os import PathLike
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .table import Samples, Table

_Path: TypeAlias = str | PathLike[str]
_Bytes: TypeAlias = bytes | bytearray | memoryview | npt.NDArray[Any]
_Ring: TypeAlias = Literal[0, 3]
_Level: TypeAlias = Literal["", "l1", "fill_buffer", "l2", "l3", "memory"]
_Branch: TypeAlias = Literal[
    "",
    "conditional",
    "direct_jump",
    "indirect_jump",
    "direct_call",
    "indirect_call",
    "near_return",
    "far_jump",
    "far_call",
    "far_return",
    "syscall",
    "sysret",
    "software_interrupt",
    "interrupt_return",
    "interrupt",
    "tsx_abort",
]
_Assist: TypeAlias = Literal[
    "wrote", "full", "index_before_base", "unmapped", "misaligned", "no_area", "processor_trace"
]

__version__: str
default_model: str

def models() -> list[str]:
    """Names of the models, oldest first."""

def policies() -> list[str]:
    """Names of the policies, which docs/policies.md describes."""

class EventKind(IntEnum):
    """What the hardware does, and an observer sees (docs/observer.md)."""

    REGISTER_WRITE: int
    ACCESS_FAULT: int
    OVERFLOW: int
    RELOAD: int
    FREEZE: int
    PMI_REQUEST: int
    PMI_DELIVERY: int
    PMI_RETURN: int
    ASSIST_ARMED: int
    PEBS_RECORD: int
    BTS_RECORD: int
    LBR_RECORD: int
    RETIREMENT: int

class Access:
    """A data access of an instruction. ``latency_cycles`` is from dispatch to data; 0: what the level takes."""

    def __init__(
        self,
        address: int,
        kind: Literal["load", "store"] = "load",
        bytes: int = 8,
        level: _Level = "",
        tlb: Literal["l1", "l2", "walk"] = "l1",
        latency_cycles: int = 0,
        locked: bool = False,
    ) -> None: ...
    def __repr__(self) -> str: ...

class Instruction:
    """An instruction that retires: by default four bytes at ring 3 that do nothing and follow the one before, a cycle
    later.

    ``ip`` 0 is where the one before went on, ``next_ip`` 0 behind the instruction, ``cycle`` 0 the next one.
    ``signals`` are what more is true of it, ``quantities`` numbers that it has (docs/library.md has their names).
    ``gpr`` are the 16 general registers after it, in the order of Interrupt.gpr. Raises Error for unknown names.
    """

    def __init__(
        self,
        ip: int = 0,
        next_ip: int = 0,
        cycle: int = 0,
        length: int = 4,
        branch: _Branch = "",
        taken: bool = False,
        mispredicted: bool = False,
        ring: _Ring = 3,
        ring_after: _Ring | None = None,
        accesses: Sequence[Access] = (),
        signals: Sequence[str] = (),
        quantities: Mapping[str, int] = {},
        latency_cycles: int = 0,
        uops: int = 0,
        transaction: Literal["", "inside", "aborting"] = "",
        gpr: Sequence[int] | None = None,
    ) -> None: ...
    def __repr__(self) -> str: ...

class Body:
    """A body of a program, which ends with its ``with`` block."""

    def __enter__(self) -> Program: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __repr__(self) -> str: ...

class Program:
    """A synthetic program, piece by piece; docs/library.md has a table of what each counts.

    >>> program = Program()
    >>> with program.loop(1000):
    ...     program.instructions(3)
    """

    def __init__(self, ip: int = 0x401000) -> None: ...
    def instructions(self, count: int) -> None:
        """So many instructions that do nothing."""
    def load(self, address: int, bytes: int = 8, stride: int = 0, level: _Level = "") -> None:
        """A load, whose address moves on by ``stride`` bytes each time. Without a level the program's own cache says
        it."""
    def store(self, address: int, bytes: int = 8, stride: int = 0, level: _Level = "") -> None:
        """A store; see load()."""
    def flush(self, address: int) -> None:
        """CLFLUSH."""
    def jump(self) -> None:
        """A direct jump to the next piece."""
    def loop(self, iterations: int, mispredicted_exit: bool = False) -> Body:
        """A body that executes so many times, closed by a conditional branch."""
    def around(self, outcomes: str) -> Body:
        """A body behind a conditional branch. ``outcomes``, execution by execution: T taken, N not taken (the body
        executes), t and n the same mispredicted."""
    def call(self) -> Body:
        """The body of a function that is called here."""
    def system_call(self) -> Body:
        """What a system call executes at ring 0."""
    def __repr__(self) -> str: ...

class Interrupt:
    """The interrupted code at a PMI."""

    @property
    def cycle(self) -> int:
        """The core cycle."""
    @property
    def ip(self) -> int:
        """Address of the next instruction."""
    @property
    def rflags(self) -> int:
        """RFLAGS, where the general registers are known."""
    @property
    def ring(self) -> int:
        """0 or 3."""
    @property
    def gpr(self) -> list[int] | None:
        """RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15; None where they are not known."""
    def __repr__(self) -> str: ...

class Event:
    """What the hardware did. docs/observer.md says which members each kind has; the others are 0."""

    @property
    def kind(self) -> EventKind:
        """What it was."""
    @property
    def cycle(self) -> int:
        """The core cycle."""
    @property
    def address(self) -> int:
        """Of an MSR, an instruction or a record."""
    @property
    def value(self) -> int:
        """What was written, or where it led."""
    @property
    def counters(self) -> int:
        """Counters as a mask."""
    @property
    def counter(self) -> int:
        """One counter: GP n is n, fixed m is 32 + m."""
    @property
    def detail(self) -> int:
        """Which one of several."""
    @property
    def flags(self) -> int:
        """What else is true of it."""
    @property
    def vector(self) -> int:
        """Of the fault."""
    def __repr__(self) -> str: ...

class Snapshot:
    """What a processor was at a moment: registers, memory, time, interrupts on their way."""

    def __repr__(self) -> str: ...

class Cpu:
    """A processor after RESET, with the policies that are given: ``Cpu("skylake", pmi_skid_cycles=0)``.

    Registers go by address or by the SDM's name. What faults on silicon raises Fault; what cannot be is an Error. Calls
    that feed instructions release the GIL, end at Ctrl-C within a second, and end with what a handler raises. One
    thread at a time may use a processor.
    """

    def __init__(self, model: str = ..., **policies: object) -> None: ...
    @property
    def model(self) -> str:
        """The name of its model."""
    @property
    def now(self) -> int:
        """The core cycle that it has reached."""
    def rdmsr(self, register: int | str) -> int:
        """RDMSR at ring 0. Raises Fault where silicon does."""
    def wrmsr(self, register: int | str, value: int) -> None:
        """WRMSR at ring 0. Raises Fault where silicon does."""
    def rdpmc(self, ecx: int, ring: _Ring = 0) -> int:
        """RDPMC; at ring 3 it faults unless CR4.PCE is set."""
    def rdtsc(self) -> int:
        """RDTSC."""
    def cpuid(self, leaf: int, subleaf: int = 0) -> tuple[int, int, int, int]:
        """EAX, EBX, ECX and EDX."""
    def set_control(self, *, pce: bool = False, osxsave: bool = True, ts: bool = False) -> None:
        """Sets CR4.PCE, CR4.OSXSAVE and CR0.TS, all of them."""
    def xgetbv(self, ecx: int) -> int:
        """XGETBV."""
    def xsetbv(self, ecx: int, value: int) -> None:
        """XSETBV."""
    def xsave(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XSAVE, 64-bit form, to an area in mapped memory; ``features`` is EDX:EAX."""
    def xsaveopt(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XSAVEOPT; see xsave()."""
    def xsavec(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XSAVEC; see xsave()."""
    def xsaves(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XSAVES; see xsave()."""
    def xrstor(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XRSTOR; see xsave()."""
    def xrstors(self, address: int, features: int, ring: _Ring = 0) -> None:
        """XRSTORS; see xsave()."""
    def reset(self) -> None:
        """RESET: registers take their reset values. Memory, time and handlers stay."""
    def registers(self) -> Table:
        """The registers of the model: ``name``, ``address``, ``writable`` bits, ``reset`` value,
        ``read_only``, ``write_only``."""
    def map(self, address: int, bytes: int) -> None:
        """Maps zeroed memory, 1 GiB at most."""
    def map_shared(self, address: int, memory: bytearray | memoryview | npt.NDArray[Any]) -> None:
        """Maps the memory of a writable, contiguous buffer, without a copy. Snapshots share it."""
    def unmap(self, address: int) -> None:
        """Removes the region that starts at the address. Raises BufferError while an array of memory() is alive."""
    def read(self, address: int, bytes: int) -> bytes:
        """A copy of mapped memory. Raises Fault (#PF) where it is not mapped."""
    def write(self, address: int, data: _Bytes) -> None:
        """Writes to mapped memory. Raises Fault (#PF) where it is not mapped."""
    def memory(self, address: int, bytes: int) -> npt.NDArray[np.uint8]:
        """Mapped memory itself, in one region, as an array that can be written. While it is alive, unmap(), restore()
        and explore() raise BufferError."""
    def on_pmi(self, handler: Callable[[Interrupt], object] | None) -> None:
        """``handler(interrupt)`` is called at each PMI, and may do what ring 0 may, and feed instructions. None: PMIs
        stay pending."""
    def observe(self, observer: Callable[[Event], object], *kinds: EventKind) -> None:
        """``observer(event)`` is called at each event of these kinds, none without any. It may read the processor, and
        not change it. Takes the place of watch()."""
    def watch(self, *kinds: EventKind) -> None:
        """Logs events of these kinds for events(), none without any. Takes the place of observe()."""
    def events(self) -> Table:
        """What has been logged since the last call, a column for each member of Event."""
    def retire(self, instructions: Instruction | Iterable[Instruction]) -> None:
        """Retires instructions. All are looked at first: an error has retired none."""
    def instructions(self, count: int, ring: _Ring = 3) -> None:
        """Retires so many instructions of four bytes that do nothing, a cycle each."""
    def wait(self, cycles: int, ring: _Ring = 3) -> None:
        """Lets core cycles pass in which nothing retires, 2**40 at most."""
    def run(self, program: Program, ring: _Ring = 3) -> None:
        """Runs a program whose bodies have ended."""
    def run_code(
        self, code: _Bytes, ip: int = 0x401000, next_ip: int = 0, addresses: Sequence[int] = (), ring: _Ring = 3
    ) -> int:
        """Runs a straight line of machine code, 1 MiB at most, and returns how many instructions have retired.

        ``next_ip`` is where execution goes on, 0 behind the code. ``addresses`` has one for each memory operand of
        each instruction; without, all of them hit."""
    def run_trace(self, path: _Path, at_most: int = ..., others: Sequence[Cpu] = ()) -> int:
        """Runs a recorded program to its end, or a little beyond ``at_most`` instructions, and returns how many have
        retired. ``others`` see the same run, with the timing of this one's model."""
    def truth(self, event_select: int, extra_register: int = 0, extra: int = 0) -> int:
        """Begins to count what an event really does, whatever becomes of the counters; returns a number for
        true_count().

        ``event_select`` is as in IA32_PERFEVTSEL; event 0 with umask n + 1 is fixed counter n."""
    def true_count(self, number: int) -> int:
        """How often the event has occurred since truth()."""
    def assists(self, outcome: _Assist = "wrote") -> int:
        """How many PEBS assists came to this."""
    def acr_reloads(self, counter: int) -> int:
        """Auto counter reloads of a counter, numbered as in GLOBAL_STATUS."""
    def snapshot(self) -> Snapshot:
        """What the processor is now."""
    def restore(self, snapshot: Snapshot) -> None:
        """Makes the processor what it was, or what another one of its model was. Raises BufferError while an array of
        memory() is alive."""
    def compare(self, snapshot: Snapshot) -> str:
        """The first difference as a sentence, or ''."""
    def __repr__(self) -> str: ...

class Run:
    """One run of a scenario; over when the scenario returns."""

    def open(self) -> None:
        """Opens the window: from here on PMIs may come before and after each access to the processor."""
    def close(self) -> None:
        """Closes the window."""
    def boundary(self) -> None:
        """A place for a PMI, too: between two stores of the driver, say."""
    def fail(self, sentence: str) -> None:
        """What should hold does not. The first sentence of a run counts; an AssertionError is one."""
    def state(self, memory: _Bytes) -> None:
        """A contiguous buffer that is part of the driver's state. Once all of it is named, equal states are not tried
        twice. At most 16."""
    def __repr__(self) -> str: ...

class Report:
    """What a search came to."""

    @property
    def runs(self) -> int:
        """Runs of the scenario."""
    @property
    def boundaries(self) -> int:
        """Places for a PMI in the run without one."""
    @property
    def merged(self) -> int:
        """Places that were not tried again: an equal state had been there before."""
    @property
    def complete(self) -> bool:
        """Whether ``most_runs`` was enough."""
    @property
    def found(self) -> bool:
        """Whether a run failed."""
    @property
    def seed(self) -> str:
        """The placement of the failed run, for explore_replay()."""
    @property
    def text(self) -> str:
        """What failed, and where the PMIs came."""
    def __repr__(self) -> str: ...

def explore(
    cpu: Cpu,
    scenario: Callable[[Cpu, Run], object],
    *,
    most_runs: int = 1000000,
    most_pmis: int = 1,
    causes: Sequence[Literal["overflow", "spurious"]] = ("overflow",),
    greatest_delay: int = 0,
) -> Report:
    """Runs ``scenario(cpu, run)`` once for every placement of PMIs, each time from the processor's present state, and
    leaves it as it was.

    ``most_pmis`` come in a run, late by 0 to ``greatest_delay`` boundaries. An AssertionError, or Run.fail(), is a
    finding; what else the scenario raises ends the search. Raises Error if the scenario does not repeat itself.
    """

def explore_replay(cpu: Cpu, scenario: Callable[[Cpu, Run], object], seed: str) -> Report:
    """Runs the one placement that a seed names; see explore()."""

def read_perf_data(path: _Path) -> Samples:
    """The samples of a perf.data file, pmusim's or perf's, with the ``command`` and the ``mapping`` of each.

    Raw data and copies of stacks are left out. Raises Error with the offset where the file is broken.
    """

def trace(path: _Path) -> dict[str, int]:
    """What a recorded program holds: ``instructions``, ``bytes``, and whether ``addresses``, ``registers`` and
    ``extended`` registers were recorded."""

def stat(path: _Path, events: str, model: str = ...) -> Table:
    """What ``pmusim stat`` counts: ``event`` and ``count``; ``instructions`` and ``elapsed_ns`` are in ``attrs``."""

def sample(
    path: _Path,
    events: str,
    *,
    model: str = ...,
    period: int | None = None,
    frequency: int | None = None,
    branches: str = "",
    registers: str = "",
    addresses: bool = False,
    weight: bool = False,
) -> Samples:
    """What ``pmusim record`` samples, without a file.

    ``branches`` is a filter as ``-j`` takes it ("any", "any_call,u"), ``registers`` a list as ``--intr-regs`` does
    ("ax,ip"). Without a period or frequency (Hz): 4000 Hz. Ctrl-C ends it within a second.
    """

def record(
    path: _Path,
    events: str,
    output: _Path = "perf.data",
    *,
    model: str = ...,
    period: int | None = None,
    frequency: int | None = None,
    branches: str = "",
    registers: str = "",
    addresses: bool = False,
    weight: bool = False,
) -> dict[str, int]:
    """``pmusim record``: sample() into a perf.data file. Returns ``samples``, ``lost``, ``file_bytes`` and
    ``elapsed_ns``. After Ctrl-C the file holds what came before it."""
