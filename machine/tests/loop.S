// SPDX-License-Identifier: MIT
// A program whose counts are known: 2 N + 4 instructions, N + 1 branches (the system call is one), N = ROUNDS.
#ifndef ROUNDS
#define ROUNDS 1000000
#endif
.globl _start
_start:
  mov $ROUNDS, %ecx
counted_loop:
  dec %ecx
  jnz counted_loop
  mov $60, %eax
  xor %edi, %edi
  syscall
.section .note.GNU-stack, "", @progbits
