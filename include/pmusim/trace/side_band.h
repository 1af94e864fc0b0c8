// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_SIDE_BAND_H
#define PMUSIM_TRACE_SIDE_BAND_H

#include <string>
#include <variant>
#include <vector>

#include "pmusim/base/bits.h"

/// What a trace holds beside code: processes, threads, mappings, system calls, signals.
namespace pmusim::trace {

/// A file mapped into the recorded process, or an anonymous executable mapping.
struct Mapping {
  u64 start = 0, bytes = 0, file_offset = 0;
  u32 protection = 0;        ///< PROT_* bits
  u32 flags = 0;             ///< MAP_SHARED or MAP_PRIVATE
  std::string path;          ///< "[stack]", "[vdso]", "//anon" as /proc/PID/maps and perf name them
  std::vector<u8> build_id;  ///< empty if the file has none
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

// Things that happen between instructions.

/// First process, or exec: the address space is new, its mappings follow.
struct ProcessStart {
  u32 pid = 0, tid = 0;
  std::string command;  ///< at most 15 characters, as the kernel keeps it
  bool exec = false;
  friend bool operator==(const ProcessStart&, const ProcessStart&) = default;
};
/// Fork (another pid than the parent's: it starts with the parent's mappings) or clone (same pid).
struct ThreadStart {
  u32 pid = 0, tid = 0, parent_pid = 0, parent_tid = 0;
  friend bool operator==(const ThreadStart&, const ThreadStart&) = default;
};
/// The last of a thread.
struct ThreadExit {
  u32 pid = 0, tid = 0;
  i32 status = 0;  ///< as waitpid gives it
  friend bool operator==(const ThreadExit&, const ThreadExit&) = default;
};
/// Instructions now come from this thread.
struct ThreadSwitch {
  u32 pid = 0, tid = 0;
  friend bool operator==(const ThreadSwitch&, const ThreadSwitch&) = default;
};
/// A mapping of a process is new.
struct Map {
  u32 pid = 0;
  Mapping mapping;
  friend bool operator==(const Map&, const Map&) = default;
};
/// Nothing is mapped there any more.
struct Unmap {
  u32 pid = 0;
  u64 start = 0, bytes = 0;
  friend bool operator==(const Unmap&, const Unmap&) = default;
};
/// Of the syscall instruction just before, which retires when the call returns (or never comes back).
struct Syscall {
  u64 number = 0;
  i64 result = 0;  ///< 0 for a call that does not return
  friend bool operator==(const Syscall&, const Syscall&) = default;
};
/// Control goes to the handler without a branch instruction.
struct SignalDelivery {
  u32 signal = 0;
  u64 handler = 0;
  friend bool operator==(const SignalDelivery&, const SignalDelivery&) = default;
};

using SideBandRecord =
    std::variant<ProcessStart, ThreadStart, ThreadExit, ThreadSwitch, Map, Unmap, Syscall, SignalDelivery>;

}  // namespace pmusim::trace

#endif
