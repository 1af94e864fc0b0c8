// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_RECORDING_H
#define PMUSIM_MACHINE_RECORDING_H

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pmu/tasks.h"
#include "pmusim/trace/trace.h"

namespace pmusim::machine {

/// A trace of what the machine's CPU executes while it counts: the kernel's code and programs', interrupts
/// and exceptions, and the guest's tasks, as far as its kernel tells of them.
class Recording {
 public:
  /// An instruction that has retired.
  struct Retired {
    const x86::Instruction& instruction;  ///< as decoded where its code was seen first
    std::span<const std::byte> code;
    u64 ip = 0, next_ip = 0;
    Cpl cpl = Cpl::user;
    const Registers* registers = nullptr;  ///< after it; of a recording that has them
  };

  /// The one that the environment asks for (PMUSIM_MACHINE_RECORD, and PMUSIM_MACHINE_RECORD_REGISTERS if it
  /// is to have registers); null without. Ends the program where the file cannot be made.
  static std::unique_ptr<Recording> from_environment();
  Recording(trace::Writer writer, bool has_registers);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool has_registers() const { return has_registers_; }
  /// Which task there is: a COMM record of perf. Ends the program where it is none.
  void take_task(std::span<const std::byte> record);
  /// The kernel writes there what becomes of them.
  void follow(Ring ring) { ring_ = std::move(ring); }

  /// An instruction is about to execute; a string instruction, its next iteration.
  void before(u64 ip, std::span<const u64> operands);
  void retire(const Retired& retired);
  void enter_handler(const trace::Interrupt& interrupt);
  /// What follows is not what execution goes on with.
  void interrupt_line();

 private:
  struct Line {  ///< emptied as it is written, so that its memory serves the next
    u64 start = 0, next_ip = 0;
    Cpl ring = Cpl::user;
    std::vector<std::byte> code;
    std::vector<u8> lengths;
    std::vector<u64> addresses;
    std::vector<u32> rep_counts;
    std::vector<Registers> registers;
  };
  const trace::Block& block_of(const Line& line);
  Result<Done, Error> write_line();
  Result<Done, Error> write_block();
  Result<Done, Error> read_ring();
  void say_what_is_missing() const;

  trace::Writer writer_;
  std::unordered_map<u64, std::vector<const trace::Block*>> blocks_;  // by address
  bool has_registers_;
  Tasks tasks_;
  Ring ring_;
  Line line_;
  // What is about to execute.
  u64 begun_ip_ = 0;
  u32 passes_ = 0;
  std::vector<u64> operands_;
};

}  // namespace pmusim::machine

#endif
