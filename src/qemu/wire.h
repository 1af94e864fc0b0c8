// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_WIRE_H
#define PMUSIM_QEMU_WIRE_H

#include <array>
#include <atomic>

#include "pmusim/base/types.h"

/// What the plugin inside qemu tells the recorder: packets over one local socket, in the order in which they
/// were sent, whoever sent them. A packet is a Header and its words; text and code bytes fill whole words.
namespace pmusim::qemu::wire {

enum class Kind : u32 {
  start,    ///< a program begins: [bytes of its path, path, bytes of maps, maps as /proc/PID/maps has them]
  block,    ///< translated code: [address, number, instructions, code bytes, a length byte each, code]
  runs,     ///< what a thread executed: run and access words
  call,     ///< a system call begins: [number, six arguments, of rt_sigreturn: where to (RIP, RSP)]
  result,   ///< it has returned: [number, six arguments, result, parent, bytes of path, path]
  signals,  ///< the block that is entered next begins a handler: [its number, SignalFrames, oldest first]
  unknown_cpu,  ///< the registers of the emulated CPU are not where they are looked for
  exit,         ///< a thread is gone (from the tracer): [status as waitpid gives it]
  done,         ///< nothing is left (from the tracer)
};

struct Header {
  Kind kind;
  u32 pid;
  u32 tid;
  u32 words;  ///< behind this header
};
static_assert(sizeof(Header) == 16);

/// What a signal interrupted. Of several the last one's handler begins; the others' had not begun when they
/// were interrupted, or did so earlier.
struct SignalFrame {
  u64 signal, handler;
  u64 ip, sp;  ///< where the thread was
};

inline constexpr u32 max_words = 8192;

/// The `runs` packet that a thread is filling. Slots lie in memory that plugins and recorder share: what a
/// killed thread had not sent is still there. The plugin takes a free slot for a thread and gives it back
/// when the thread ends; the recorder does if it was killed.
struct Slot {
  Header header;
  std::array<u64, max_words> words;
  std::atomic<u64> sent;  ///< packets of this slot since it was taken: the last one may have `words` still
  std::atomic<u32> taken;
};
static_assert(std::atomic<u64>::is_always_lock_free && std::atomic<u32>::is_always_lock_free);
/// Threads beyond these have private memory, which dies with them.
inline constexpr std::size_t slot_count = 1024;
using Slots = std::array<Slot, slot_count>;
/// What recorder and plugins have in common.
struct Shared {
  Slots slots;
  std::atomic<u32> over;  ///< not 0: nothing more is recorded, whatever programs do
};
/// A program and what it maps lie below, qemu's own files above (address space randomisation is off).
inline constexpr u64 guest_end = 0x5500'0000'0000;

/// In a `runs` packet: the block with this number is entered.
inline constexpr u64 run_bit = u64{1} << 63;
/// Otherwise an access by the block entered last. Linear addresses of user code have 47 bits.
struct Access {
  static constexpr unsigned instruction_shift = 48, size_shift = 57, store_shift = 60;
  static constexpr u64 encode(u64 address, unsigned instruction, unsigned log2_bytes, unsigned store) {
    return (address & 0xFFFF'FFFF'FFFF) | u64{instruction} << instruction_shift |
           u64{log2_bytes & 7} << size_shift | u64{store} << store_shift;
  }
  explicit constexpr Access(u64 word)
      : address(word & 0xFFFF'FFFF'FFFF),
        instruction(static_cast<unsigned>(word >> instruction_shift & 0x1FF)),
        bytes(1u << (word >> size_shift & 7)),
        store((word >> store_shift & 1) != 0) {}
  u64 address;
  unsigned instruction;  ///< its place in the block
  unsigned bytes;
  bool store;
};
/// qemu ends a block after so many instructions at the latest.
inline constexpr unsigned max_block_instructions = 512;

}  // namespace pmusim::qemu::wire

#endif
