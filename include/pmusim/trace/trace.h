// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_TRACE_H
#define PMUSIM_TRACE_TRACE_H

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pmusim/arch/xsave.h"
#include "pmusim/base/types.h"
#include "pmusim/x86/instruction.h"

/// Recorded programs: what a trace holds of code and of what happened beside it, where a replay takes its
/// program from (`Source`), traces in files (`Reader`, `Writer`), and how they come there (`record`).
namespace pmusim::trace {

/// What a trace knows beside control flow.
struct Contents {
  bool addresses = false;  ///< an address for every data access
  bool registers = false;  ///< general registers after every instruction
  bool extended = false;   ///< what instructions do to vector, mask, x87 and other extended registers
  /// The program's code was not known: bytes stand for it that branch, load and store as it did. What else
  /// the instructions did (and how wide their accesses were) is unknown.
  bool stand_in_code = false;
  /// How long everything took, by the clock of a real CPU: what replaces the core model's time.
  bool timing = false;
  /// Code at ring 0 too, and how it is entered. Without, a system call is one instruction.
  bool kernel = false;
  friend bool operator==(const Contents&, const Contents&) = default;
};

/// The most instructions in one block; longer straight lines are several blocks.
inline constexpr std::size_t max_block_instructions = 256;

/// A straight line of code that was executed as a whole: every instruction but the last falls through.
struct Block {
  u32 id = 0;            ///< dense, unique in the trace; the same address with other bytes is another block
  Cpl ring = Cpl::user;  ///< at which it executes
  std::vector<x86::Instruction> instructions;
  std::vector<std::byte> code;  ///< of all instructions
  u32 operands = 0;             ///< memory operands of all instructions
  u32 reps = 0;                 ///< REP string instructions
  u64 start() const { return instructions.front().ip; }
  u64 end() const { return instructions.back().end(); }
  std::span<const std::byte> code_of(const x86::Instruction& i) const {
    return std::span(code).subspan(static_cast<std::size_t>(i.ip - start()), i.length);
  }
};

/// What one instruction of a block did to the extended registers.
struct InstructionChange {
  u32 instruction = 0;  ///< number within the block
  ExtendedChange change;
};

/// One execution of a block, in order. Spans are valid until the next call of `Reader::next()`.
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
  /// Extended registers of the thread before the first instruction; null if the trace has none.
  const ExtendedState* extended = nullptr;
  /// What instructions changed of them, in order; an instruction that changed nothing is not there.
  std::span<const InstructionChange> extended_changes;
  /// Core cycles from the retirement before the block to that of its last instruction; nothing if the trace
  /// has no timing.
  std::optional<u32> cycles;
  /// The ring at which execution goes on: another than the block's behind SYSCALL, INT, SYSRET, IRET and far
  /// returns alone, and not of a trace without ring 0.
  Cpl next_ring = Cpl::user;
};

/// How much one kind of data takes in a trace.
struct StreamSize {
  std::string_view name;
  u64 raw_bytes = 0;     ///< before compression
  u64 stored_bytes = 0;  ///< in the file
};

/// A file mapped into the recorded process, or an anonymous executable mapping.
struct Mapping {
  u64 start = 0, bytes = 0, file_offset = 0;
  u32 protection = 0;        ///< PROT_* bits
  u32 flags = 0;             ///< MAP_SHARED or MAP_PRIVATE
  std::string path;          ///< "[stack]", "[vdso]", "//anon" as /proc/PID/maps and perf name them
  std::vector<u8> build_id;  ///< empty if the file has none
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

// What a trace holds beside code: things that happen between instructions.

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

/// Control goes to a handler at ring 0 without an instruction: an interrupt, or an exception.
struct Interrupt {
  u32 vector = 0;
  u64 from = 0;  ///< the address that it returns to
  u64 handler = 0;
  Cpl ring = Cpl::user;  ///< that was interrupted
  friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

/// The thread has another name from now on, in the same address space. Of a trace with ring 0.
struct ThreadName {
  u32 pid = 0, tid = 0;
  std::string name;  ///< at most 15 characters
  friend bool operator==(const ThreadName&, const ThreadName&) = default;
};

using SideBandRecord = std::variant<ProcessStart, ThreadStart, ThreadExit, ThreadSwitch, Map, Unmap, Syscall,
                                    SignalDelivery, Interrupt, ThreadName>;

/// Whether what follows was fetched anew, as no instruction led there.
inline bool flushes(const SideBandRecord& record) {
  return std::holds_alternative<SignalDelivery>(record) || std::holds_alternative<Interrupt>(record);
}

/// `Map::pid` of the kernel, whose mappings are in every process. Its text is "[kernel.kallsyms]_text" to
/// perf, and the offset in the file is the address of the symbol `_text`.
inline constexpr u32 kernel_pid = ~u32{0};

/// What can be asked about a program that is watched, whether it comes out of a trace or runs.
class ProgramView {
 public:
  ProgramView() = default;
  ProgramView(const ProgramView&) = delete;
  ProgramView& operator=(const ProgramView&) = delete;
  virtual ~ProgramView() = default;

  /// What is known of it beside control flow; always the same.
  virtual const Contents& contents() const = 0;
  /// Code bytes known at an address of a process, as far as they were executed up to now (at most `bytes`;
  /// shorter or empty where unknown). What a driver's software filter reads as user memory.
  virtual std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const = 0;
  /// The same of memory of any kind, of which a trace knows nothing.
  virtual std::vector<std::byte> memory(u32, u64, std::size_t) const { return {}; }
  /// Whether physical_address() can tell anything.
  virtual bool has_page_tables() const { return false; }
  /// Where an address of a process is in physical memory; nothing: no page is there, or nobody knows.
  virtual std::optional<u64> physical_address(u32, u64) const { return {}; }

 protected:
  ProgramView(ProgramView&&) noexcept = default;
  ProgramView& operator=(ProgramView&&) noexcept = default;
};

using Item = std::variant<BlockRun, SideBandRecord>;

/// In program order.
using Items = std::span<const Item>;

/// What a source has come to, used as an optional is: nothing at the end. The item is the source's, and stays
/// what it is until the source's next call.
class NextItem {
 public:
  NextItem() = default;
  explicit NextItem(const Item& item) : item_(&item) {}
  bool has_value() const { return item_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const Item& operator*() const { return *item_; }
  const Item* operator->() const { return item_; }
  /// It alone, or none.
  Items items() const { return item_ != nullptr ? Items(item_, 1) : Items(); }

 private:
  const Item* item_ = nullptr;
};

/// As Source::read() has it, of a source that has one at a time.
inline Result<Items, Error> items_of(const Result<NextItem, Error>& item) {
  if (!item.ok()) return Failure(item.error());
  return item->items();
}

/// What runs tell beside where they lead, and what takes its time to decode.
enum class Detail : u8 { addresses, registers };

/// Where a replay takes its program from: a file (Reader), something that makes a trace at this moment
/// (LiveTrace), or what you have. A replay knows nothing else of the program.
///
///     while (true) {
///       const auto item = source.next();
///       if (!item.ok() || !*item) break;
///       if (const auto* run = std::get_if<trace::BlockRun>(&**item)) ...
///     }
///
/// Its contents are known before the first item.
class Source : public ProgramView {
 public:
  /// Retired instructions from beginning to end; nothing while nobody knows.
  virtual std::optional<u64> length() const = 0;
  /// Of a trace that ends before its recording did: one sentence for the user.
  virtual const std::optional<std::string>& truncation() const = 0;

  /// The next item in program order, nothing at the end. What it refers to is valid until the next call, its
  /// block as long as the source. Errors: what the source says about itself, with its name.
  Result<NextItem, Error> next() {
    if (delivered_ == read_.size()) {
      const Result<Items, Error> read = this->read();
      if (!read.ok()) return Failure(read.error());
      read_ = *read;
      delivered_ = 0;
      if (read_.empty()) return NextItem();
    }
    return NextItem(read_[delivered_++]);
  }

  /// Nobody is going to look at it: runs may come without, as if the source had none. Registers come all
  /// the same where extended ones are. Before the first next().
  virtual void leave_out(Detail) {}

  /// The same program from where this source began, to be read beside it. Errors: it can be read once.
  virtual Result<std::unique_ptr<Source>, Error> again() const {
    return Failure(Error("the program can be read once; a trace in a file can be read again"));
  }

 protected:
  Source() = default;
  Source(Source&&) noexcept = default;
  Source& operator=(Source&&) noexcept = default;

  /// What follows, as much as is at hand and at least one item; none at the end. Valid until the next call.
  /// Errors as next().
  virtual Result<Items, Error> read() = 0;
  /// How many of those that read() gave last next() has delivered.
  std::size_t delivered() const { return delivered_; }

 private:
  Items read_;
  std::size_t delivered_ = 0;  // of these
};

/// How long the paths through a synthetic kernel are, for programs of which user mode alone was recorded: in
/// instructions at ring 0, those that return to the program included.
struct KernelEntries {
  u32 system_call = 200;
  u32 tick = 3000;     ///< an interrupt of the timer
  u64 tick_every = 0;  ///< instructions of the program, at the end of a block; 0: none comes
  u32 signal = 1500;   ///< an exception or interrupt behind which a handler of the program's runs
};

/// The same program, whose system calls, signals and, if asked for, timer interrupts lead through a kernel:
/// it is not there, but deterministic code at a kernel's addresses that loads, stores, branches, calls and
/// returns. Each entry is as long as `entries` says; that of a call that does not come back is shorter. Other
/// interrupts, page faults and the kernel's switches from one thread to another have no code.
/// Errors: an entry that is too short or too long; a program whose trace has ring 0 already, or recorded
/// time.
Result<std::unique_ptr<Source>, Error> with_kernel_entries(std::unique_ptr<Source> program,
                                                           const KernelEntries& entries);
/// Where its functions are, as /proc/kallsyms says it of a kernel.
std::string synthetic_kallsyms(const KernelEntries& entries);

class TraceBytes;

/// A recorded program, read from its first instruction to its last:
/// @code
/// auto trace = trace::Reader::open("program.pmutrace");
/// u64 branches_taken = 0;
/// while (auto item = trace->next()) {
///   if (!item->has_value()) break;
///   if (const auto* run = std::get_if<trace::BlockRun>(&**item))
///     branches_taken += run->next_ip != run->block->end();
/// }
/// @endcode
/// Reads a native trace from beginning to end. The file carries everything (code bytes, maps, names): nothing
/// else is opened. Memory is bounded by one chunk and the code that the trace executes, which a file cannot
/// have more of than is in proportion to its size.
class Reader final : public Source {
 public:
  /// Errors: cannot open or read; not a regular file; not a trace; unsupported version; truncated before the
  /// end of the first chunk; checksum mismatch (with offset).
  static Result<Reader, Error> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader() override;

  /// Begins with the block that holds this instruction (0 is the first), before the first next(). What
  /// happened before to processes, threads and mappings comes first, and which thread runs; code() knows
  /// what is executed from somewhere before it. What ran before is not decoded.
  /// Errors: the trace has no such instruction.
  Result<Done, Error> begin_at(u64 instruction);
  /// Decodes on a thread of its own, some thousand blocks ahead of next(), which says the same as without. A
  /// trace with extended registers is decoded when it is asked for all the same. Before the first next().
  void decode_ahead();
  /// Instructions before the first block, known with it.
  u64 instructions_before() const;

  const Contents& contents() const override;
  /// Retired instructions in the whole trace.
  u64 instruction_count() const;
  /// From where it begins; its first block may add some.
  std::optional<u64> length() const override;
  /// For a trace that ends early (its recorder was killed, the disk was full): one sentence for the user. All
  /// whole chunks are there and are read as a whole trace is.
  const std::optional<std::string>& truncation() const override;
  u64 file_bytes() const;
  /// Sizes per kind of data over the whole trace.
  std::vector<StreamSize> streams() const;

  void leave_out(Detail detail) override;
  /// With what was left out, and how it is decoded. Errors: as open(), if the file is not what it was.
  Result<std::unique_ptr<Source>, Error> again() const override;
  std::vector<std::byte> code(u32 pid, u64 address, std::size_t bytes) const override;

 protected:
  /// Errors: damaged or truncated chunk, with file offset.
  Result<Items, Error> read() override;

 private:
  friend class LiveTrace;
  /// Of a trace that comes through a pipe: what stands at its end is not known before. Errors as open().
  static Result<Reader, Error> open_stream(std::shared_ptr<const TraceBytes> bytes);

  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What is left of a trace whose writer is killed, or cannot go on. A file that the trace was to replace
/// stays as it is in any case.
enum class Unfinished : u8 {
  kept,     ///< its whole chunks under its name, which can be read (Reader::truncation); of a recording, say
  dropped,  ///< nothing: it can be made again
};

/// Makes a trace of one's own: of another recorder's data, or of a program that never was. The file replaces
/// one of its name when it is complete. Where there is none it appears with its first whole chunk if it is
/// kept unfinished; where writing fails it is cut back to whole chunks. Without a chunk and without `finish`
/// there is no file.
///
/// Blocks are added once and then run by id. Runs and side-band records are in program order of the threads
/// as they were interleaved; a ThreadSwitch tells which thread the following runs belong to.
class Writer {
 public:
  /// A trace with registers is for its owner alone (mode 0600).
  /// Errors: the file cannot be made.
  static Result<Writer, Error> create(const std::string& path, Contents contents,
                                      Unfinished unfinished = Unfinished::kept);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// Adds a straight line of code: instruction lengths (1..15 bytes each, 1..max_block_instructions of them)
  /// that cover `code`. The block's reference stays valid as long as the writer. `ring`: user, or of a trace
  /// with ring 0 either.
  const Block& add_block(u64 start, std::span<const std::byte> code, std::span<const u8> lengths,
                         Cpl ring = Cpl::user);

  /// Appends one execution of a block of this writer. The spans have the sizes that the block and the
  /// contents ask for; `rip` in `registers` and the next ring are not stored, they follow from the code.
  /// Errors: the disk; more code than a trace can hold.
  Result<Done, Error> run(const BlockRun& run);
  Result<Done, Error> side_band(const SideBandRecord& record);

  /// What became a trace.
  struct Written {
    u64 instructions = 0;
    u64 file_bytes = 0;
  };
  /// Completes the file and gives it its name. Errors: the disk.
  Result<Written, Error> finish();

  u64 instruction_count() const;
  /// Of those, how many would be left in the file now.
  u64 stored_instruction_count() const;
  /// Of the file so far; what is not yet a whole chunk is not in it.
  u64 stored_bytes() const;

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::trace

/// Records a program by single steps, with registers if asked:
/// @code
/// const auto recorded = trace::record({"/bin/true"}, {.output = "true.pmutrace"});
/// if (!recorded) std::cerr << recorded.error().message << '\n';
/// @endcode
namespace pmusim::trace {

/// Which part of a program's run is recorded. It begins when each thing that is asked for has happened, in
/// the order in which they stand here, and ends with the first thing that ends it; the program then goes on
/// unrecorded. Nothing asked for: all of it.
struct Region {
  u64 delay_ms = 0;          ///< so long after its start, at native speed (single steps only)
  std::string start_symbol;  ///< a thread reaches this function of the program or of a library
  bool marks = false;        ///< a thread reaches a start mark; ends at a stop mark
  u64 skip = 0;              ///< instructions of all threads that are left out then

  u64 count = 0;            ///< ends after so many instructions, or at the end of the block that has the last
  std::string stop_symbol;  ///< ends where a thread reaches this function
  u64 max_bytes = 0;        ///< ends when the file has so many bytes (and a chunk at most)

  bool is_everything() const { return *this == Region{}; }
  friend bool operator==(const Region&, const Region&) = default;
};

enum class RecordedRegisters : u8 {
  none,
  gpr,   ///< general registers after every instruction
  simd,  ///< those, and x87, vector, mask and protection-key registers as instructions change them
};

/// What a recorded trace with these registers holds.
Contents contents_with(RecordedRegisters registers);

/// What is recorded, and where to.
struct RecordingOptions {
  std::string output = "trace.pmutrace";
  RecordedRegisters registers = RecordedRegisters::none;
  u64 max_instructions = 0;  ///< kill the program after so many; 0: record to its end
  Region region{};
  /// Where given: once true (from a signal handler, say) the program is killed and the recording complete.
  const std::atomic<bool>* stop = nullptr;
  /// Called now and then with the number of instructions so far.
  std::function<void(u64 instructions)> progress{};
};

/// What a recording has, and what it could not have.
struct RecordingSummary {
  u64 instructions = 0;
  u64 file_bytes = 0;
  u64 processes = 0, threads = 0;  ///< ever alive, the first ones included
  /// Places where control moved on without a branch, system call or signal: code that cannot be read (the
  /// vsyscall page).
  u64 gaps = 0;
  /// Setuid, setgid and capable programs that ran without these rights, because they were traced.
  std::vector<std::string> without_rights;
  int status = 0;              ///< of the program, as waitpid gives it
  bool stopped_early = false;  ///< killed at `max_instructions` or by `stop`
  bool let_go = false;  ///< it went on, or goes on, unrecorded: the region ended, or it was attached to
};

/// Runs a program and records every user instruction of it, of its threads and of the processes it starts, by
/// single steps (x86-64 Linux). The program inherits the caller's terminal, directory and environment;
/// address space layout randomisation is off, so that recordings of the same program resemble each other. It
/// runs on one CPU together with the caller, one thread at a time, and it is never stopped: SIGSTOP and its
/// kin are not passed on.
///
/// A system call's instruction retires when the call returns. The program sees the CPUs that the caller has,
/// its own limits, and its own trap flag and SIGTRAP, blocked, ignored or handled, as without the recorder.
///
/// The caller must have no other child processes meanwhile; its soft limits of file size and CPU time become
/// its hard ones, and SIGXFSZ is for it to handle. Errors: the program cannot be started; it is not 64-bit;
/// tracing is not permitted; the output cannot be written. After an error there is an output file only if
/// some whole chunks could be written: the sentence says how many instructions it has (Reader::truncation).
///
/// Up to where a region begins with a delay or a function, the program runs at native speed; from its end on,
/// too, and nobody traces it any more. A region that never begins is an error.
Result<RecordingSummary, Error> record(const std::vector<std::string>& command,
                                       const RecordingOptions& options);

/// As record(), for a process that runs: its threads, and what they start. When the recording ends (`stop`,
/// `max_instructions`, the region's end) it goes on by itself. Errors, beside the others: no such process,
/// not permitted to trace it, it is traced already.
Result<RecordingSummary, Error> record_process(u32 pid, const RecordingOptions& options);

}  // namespace pmusim::trace

#endif
