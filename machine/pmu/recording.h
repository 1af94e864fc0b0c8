// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_RECORDING_H
#define PMUSIM_MACHINE_RECORDING_H

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::machine {

/// A trace of what the machine's CPU executes while it counts: the kernel's code and programs', interrupts
/// and exceptions, and which address space it is in. That is all that is known of processes.
class Recording {
 public:
  /// An instruction that has retired.
  struct Retired {
    const x86::Instruction& instruction;  ///< as decoded where its code was seen first
    std::span<const std::byte> code;
    u64 ip = 0, next_ip = 0;
    Cpl cpl = Cpl::user;
  };

  /// The one that the environment asks for (PMUSIM_MACHINE_RECORD); null without. Ends the program where the
  /// file cannot be made.
  static std::unique_ptr<Recording> from_environment();
  explicit Recording(trace::Writer writer);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// An instruction is about to execute; a string instruction, its next iteration.
  void before(u64 ip, std::span<const u64> operands);
  /// In an address space that CR3 names.
  void retire(const Retired& retired, u64 cr3);
  void enter_handler(const trace::Interrupt& interrupt);
  /// What follows is not what execution goes on with.
  void interrupt_line();

 private:
  struct Line {
    u64 start = 0, next_ip = 0;
    Cpl ring = Cpl::user;
    std::string code;
    std::vector<u8> lengths;
    std::vector<u64> addresses;
    std::vector<u32> rep_counts;
  };
  void write_line();
  void switch_to(u64 cr3);
  void check(const Result<Done, Error>& written);

  trace::Writer writer_;
  std::unordered_map<std::string, const trace::Block*> blocks_;  // by ring, address and code
  std::unordered_map<u64, u32> spaces_;                          // numbers by CR3
  u64 cr3_ = ~u64{0};
  Line line_;
  // What is about to execute.
  u64 begun_ip_ = 0;
  u32 passes_ = 0;
  std::vector<u64> operands_;
};

}  // namespace pmusim::machine

#endif
