# SPDX-License-Identifier: MIT
"""A cycle-level emulation of Intel's performance monitoring units.

A driver's view of a processor, and the profiles of recorded programs:

>>> import pmusim
>>> cpu = pmusim.Cpu("skylake")
>>> cpu.wrmsr("IA32_PERFEVTSEL0", 0x4100C0)  # instructions, ring 3
>>> cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 1)
>>> cpu.instructions(1000)
>>> cpu.rdmsr("IA32_PMC0")
1000
"""
from ._pmusim import (
    Access,
    Body,
    Cpu,
    Event,
    EventKind,
    Instruction,
    Interrupt,
    Program,
    Report,
    Run,
    Snapshot,
    __version__,
    default_model,
    explore,
    explore_replay,
    models,
    policies,
    read_perf_data,
    record,
    sample,
    stat,
    trace,
)
from .errors import Error, Fault
from .table import Samples, Table

__all__ = [
    "Access",
    "Body",
    "Cpu",
    "Error",
    "Event",
    "EventKind",
    "Fault",
    "Instruction",
    "Interrupt",
    "Program",
    "Report",
    "Run",
    "Samples",
    "Snapshot",
    "Table",
    "__version__",
    "default_model",
    "explore",
    "explore_replay",
    "models",
    "policies",
    "read_perf_data",
    "record",
    "sample",
    "stat",
    "trace",
]
