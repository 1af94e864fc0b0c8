#ifndef PMUSIM_TRACE_READER_H
#define PMUSIM_TRACE_READER_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::trace {

/// What a trace knows beside control flow.
struct Contents {
  bool addresses = false;  ///< an address for every data access
  bool registers = false;  ///< general registers after every instruction
};

/// A file mapped into the recorded process, or an anonymous executable mapping.
struct Mapping {
  u64 start = 0, bytes = 0, file_offset = 0;
  u32 protection = 0;        ///< PROT_* bits
  u32 flags = 0;             ///< MAP_SHARED or MAP_PRIVATE
  std::string path;          ///< "[stack]", "[vdso]", "//anon" as /proc/PID/maps and perf name them
  std::vector<u8> build_id;  ///< empty if the file has none
};

// Things that happen between instructions.
struct ProcessStart {
  u32 pid, tid;
  std::string command;
  bool exec;
};  ///< first process, or exec
struct ThreadStart {
  u32 pid, tid, parent_pid, parent_tid;
};  ///< fork or clone
struct ThreadExit {
  u32 pid, tid;
  i32 status;
};
struct ThreadSwitch {
  u32 pid, tid;
};  ///< instructions now come from this thread
struct Map {
  u32 pid;
  Mapping mapping;
};
struct Unmap {
  u32 pid;
  u64 start, bytes;
};
struct Syscall {
  u64 number;
  i64 result;
};  ///< of the syscall instruction just before
struct SignalDelivery {
  u32 signal;
  u64 handler;
};  ///< control goes to the handler without a branch
using Happening =
    std::variant<ProcessStart, ThreadStart, ThreadExit, ThreadSwitch, Map, Unmap, Syscall, SignalDelivery>;

/// A straight line of code that was executed as a whole: every instruction but the last falls through.
struct Block {
  u32 id = 0;  ///< dense, unique in the trace
  std::vector<x86::Instruction> instructions;
  u64 start() const { return instructions.front().ip; }
};

/// One execution of a block, in order. Spans are valid until the next call of `next()`.
struct BlockRun {
  const Block* block = nullptr;
  /// Where execution went on in this thread: tells whether the block's last branch was taken, and whereto.
  u64 next_ip = 0;
  /// One address per memory operand of each instruction in order (a REP instruction has its first
  /// iteration's); empty if the trace has no addresses.
  std::span<const u64> addresses;
  /// Iterations of each REP instruction in the block, in order.
  std::span<const u32> rep_counts;
  /// Register state after each instruction, one per instruction; empty if the trace has none.
  std::span<const Registers> registers;
};

using Item = std::variant<BlockRun, Happening>;

/// Reads a native trace from beginning to end. The file carries everything (code bytes, maps, names): nothing
/// else is opened.
class Reader {
 public:
  /// Errors: cannot open or read; not a trace; unsupported version; truncated; checksum mismatch (with
  /// offset).
  static Result<Reader, Error> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  const Contents& contents() const;
  /// Retired instructions in the whole trace.
  u64 instruction_count() const;

  /// The next item, nothing at the end of the trace. Errors: damaged or truncated chunk, with file offset.
  Result<std::optional<Item>, Error> next();

  /// Code bytes known at an address of the process that runs now, as far as they were executed (at most
  /// `bytes`; shorter or empty where unknown). What a driver's software filter reads as user memory.
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::trace

#endif
