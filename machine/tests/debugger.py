#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debugger of the guest, as far as a test needs one: gdb's remote protocol, by itself.

    debugger.py PLACE ADDRESS    PLACE: a port, or the path of a socket

The machine at PLACE has executed nothing; it goes on to ADDRESS (hexadecimal), stops in front of it, executes an instruction, and goes on to
its end.
"""
import socket
import sys

RIP = 16 * 8  # where it is among the registers of x86-64: behind the general ones


class Machine:
    def __init__(self, place):
        if place.isdigit():
            self.socket = socket.create_connection(("localhost", int(place)), timeout=300)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(300)
            self.socket.connect(place)
        self.stream = self.socket.makefile("rb")

    def send(self, packet):
        self.socket.sendall(b"$%s#%02x" % (packet.encode(), sum(packet.encode()) & 0xFF))

    def receive(self):
        """The next packet; empty at the end."""
        while (byte := self.stream.read(1)) not in (b"$", b""):
            pass
        if byte == b"":
            return ""
        packet = b""
        while (byte := self.stream.read(1)) not in (b"#", b""):
            packet += byte
        self.stream.read(2)
        if not packet.startswith(b"W"):  # the machine has gone
            self.socket.sendall(b"+")
        return packet.decode()

    def ask(self, packet, expected):
        self.send(packet)
        reply = self.receive()
        if not reply.startswith(expected):
            sys.exit(f"debugger: {packet}: {reply!r}; expected {expected!r}")
        return reply

    def rip(self):
        registers = bytes.fromhex(self.ask("g", ""))
        return int.from_bytes(registers[RIP : RIP + 8], "little")


def expect(what, value, expected):
    if value != expected:
        sys.exit(f"debugger: {what} {value:#x}; expected {expected:#x}")


def main():
    machine, address = Machine(sys.argv[1]), int(sys.argv[2], 16)
    machine.ask("?", "T05")
    expect("RIP at RESET", machine.rip() & 0xFFFFFFFF, 0xFFF0)
    machine.ask(f"Z1,{address:x},1", "OK")
    machine.ask("c", "T05")
    expect("RIP at the breakpoint", machine.rip(), address)
    machine.ask(f"z1,{address:x},1", "OK")
    code = bytes.fromhex(machine.ask(f"m{address:x},5", ""))
    machine.ask("s", "T05")
    if code[0] == 0xE8:
        expect("a call leads to", machine.rip(), address + 5 + int.from_bytes(code[1:], "little", signed=True))
    elif not 1 <= machine.rip() - address <= 15:
        sys.exit(f"debugger: a step leads from {address:#x} to {machine.rip():#x}; expected the next instruction")
    machine.send("c")
    if (reply := machine.receive()) not in ("", "W00"):
        sys.exit(f"debugger: {reply!r}; expected the end of the machine")


if __name__ == "__main__":
    main()
