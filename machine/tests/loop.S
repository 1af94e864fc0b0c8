# SPDX-License-Identifier: MIT
# A program whose counts are known: 2 N + 4 instructions, N + 1 branches (the system call is one), N = 1,000,000.
.globl _start
_start:
  mov $1000000, %ecx
counted_loop:
  dec %ecx
  jnz counted_loop
  mov $60, %eax
  xor %edi, %edi
  syscall
.section .note.GNU-stack, "", @progbits
