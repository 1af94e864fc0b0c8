import struct, pmusim  # SPDX-License-Identifier: MIT
cpu, program = pmusim.Cpu("skylake"), pmusim.Program()
with program.loop(1000):
    program.instructions(3)
cpu.map(0x10000, 0x11000)  # the DS area, and the buffer at 0x20000
cpu.write(0x10020, struct.pack("<4Q", 0x20000, 0x20000, 0x20FA0, 0x20FA0))
for register, value in {0x600: 0x10000, 0xC1: 2**32 - 100, 0x186: 0x4100C4, 0x3F1: 1, 0x38F: 1}.items():
    cpu.wrmsr(register, value)
cpu.run(program)
print("a branch at", hex(*struct.unpack("<Q", cpu.read(0x200B0, 8))))
