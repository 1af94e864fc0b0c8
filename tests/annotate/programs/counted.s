# SPDX-License-Identifier: MIT
# What the tests of annotate count by hand: linked at 0x401000, so that everything has the address beside it.
# Lines of this file are the source lines.
  .text
  .globl _start, leaf, tail
  .type _start, @function
  .type leaf, @function
  .type tail, @function
_start:
  mov $8, %ecx                  # 401000
.Lround:
  add %rcx, %rax                # 401005
  test $1, %al                  # 401008
  je .Lskip                     # 40100a
  call leaf                     # 40100c
.Lskip:
  dec %ecx                      # 401011
  jne .Lround                   # 401013
  mov tail(%rip), %edx          # 401015
  .byte 0x06                    # 40101b, no instruction of 64-bit mode
  hlt                           # 40101c
  .size _start, . - _start
  .balign 32, 0x90
leaf:
  nop                           # 401020
  ret                           # 401021
  .size leaf, . - leaf
  .balign 16, 0x90
tail:
.Ltail:
  cmovz %eax, %ecx              # 401030
  jmp .Ltail                    # 401033
  .size tail, . - tail
