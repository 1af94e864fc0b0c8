/* SPDX-License-Identifier: MIT */
#ifndef PMUSIM_MACHINE_CHANNEL_H
#define PMUSIM_MACHINE_CHANNEL_H

/* What comes out of the guest: an OUT of four bytes to a port of the machine, whose value is a number of
 * bytes and whose RSI is where they lie. No driver and no option of the kernel takes part. The bytes are
 * frames: its kind, the number of bytes behind it in four bytes (little endian), and these. */
enum {
  CHANNEL_PORT = 0x504,
  /* For a recording, in the same way: a record COMM of perf (<linux/perf_event.h>) for each task that there
   * is, and the mapping of a ring to which the kernel writes what becomes of them. */
  TASKS_PORT = 0x508,
  RING_PORT = 0x50C,
  CHANNEL_OUT_BYTES = 1 << 16, /* in one OUT, at most */
  CHANNEL_HEADER_BYTES = 5,
  CHANNEL_DESCRIPTOR = 3, /* of the emulator, which writes them there */
  REMARKS_DESCRIPTOR = 4  /* of the emulator, for what it has to say itself: a sentence in each line */
};
enum ChannelFrame {
  CHANNEL_STARTED = 'S', /* the kernel has come up, and the command begins */
  CHANNEL_OUTPUT = 'O',
  CHANNEL_ERROR = 'E',
  CHANNEL_FILE = 'F',     /* a file that the command has written begins: its mode in four bytes, its path */
  CHANNEL_DATA = 'D',     /* its next bytes */
  CHANNEL_FILE_END = 'd', /* it is whole */
  CHANNEL_NOTES = 'N',    /* /sys/kernel/notes, which has the kernel's build ID */
  CHANNEL_SYMBOLS = 'K',  /* the next bytes of /proc/kallsyms */
  CHANNEL_FAILED = 'X',   /* a sentence: the command could not be run */
  CHANNEL_EXITED = 'Z',   /* the command has ended: its exit status as a shell has it, in four bytes */
};

#endif
