// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_BRANCH_FILTER_H
#define PMUSIM_SRC_DRIVER_X86_BRANCH_FILTER_H

#include <vector>

#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// What the software filter can tell of a branch, and a request for it: a branch stays if the request has
/// every bit that the branch has.
namespace branch_class {
inline constexpr u64 USER = bit(0), KERNEL = bit(1), CALL = bit(2), RET = bit(3), SYSCALL = bit(4),
                     SYSRET = bit(5), INT = bit(6), IRET = bit(7), JCC = bit(8), JMP = bit(9), IRQ = bit(10),
                     IND_CALL = bit(11), ABORT = bit(12), IN_TX = bit(13), NO_TX = bit(14),
                     ZERO_CALL = bit(15), CALL_STACK = bit(16), IND_JMP = bit(17), TYPE_SAVE = bit(18);
/// In a request without KERNEL: branches that leave the kernel may stay, as their target is user code.
inline constexpr u64 KERNEL_SOURCE = bit(19);
inline constexpr u64 PRIVILEGE = USER | KERNEL;
inline constexpr u64 ANY = bits(12, 2) | ZERO_CALL | IND_JMP;
inline constexpr u64 ALL = ANY | PRIVILEGE;
}  // namespace branch_class

/// The classes that a branch_sample_type asks for.
u64 requested_classes(u64 branch_sample_type);

/// Drops the branches that an event did not ask for, by the instruction that stands at their source: hardware
/// filters are coarser than perf's, or missing. What an instruction is, is remembered per address space.
class BranchFilter {
 public:
  /// Where records say that a branch stands: at the branch, or where it was fused with the instruction before
  /// it, perhaps there (AMD).
  enum class Sources : u8 { exact, fused };

  /// `entries` is the size of the memory of classified addresses, a power of two.
  explicit BranchFilter(std::size_t entries = 1u << 14);
  explicit BranchFilter(Sources sources);

  /// Whose user code the branches come from; any number that is different for different processes.
  void set_address_space(u32 id) { address_space_ = id; }
  /// Forgets what code was: mappings changed.
  void invalidate();

  /// Whether a request leaves every stack as it is.
  static bool keeps_all(u64 requested) {
    return (requested & branch_class::ALL) == branch_class::ALL && (requested & branch_class::TYPE_SAVE) == 0;
  }
  /// Whether it leaves those stacks as they are of which hardware knew every type, and all of which happened
  /// at privilege levels that it asks for.
  static bool keeps_all_typed(u64 requested) {
    using namespace branch_class;
    return (requested & (ANY | USER)) == (ANY | USER) && (requested & (IN_TX | NO_TX)) == 0;
  }
  /// Keeps what `requested` (a set of branch_class bits) asks for, in order, and saves types if asked to.
  /// Where an entry has a type already, hardware knew it, and the code is not looked at. With fused sources
  /// every branch is looked at and moved to where it stands, all the same what was asked for.
  void apply(std::vector<perf::BranchEntry>& branches, u64 requested, const perf::SampleSink& code);

 private:
  struct Known {
    u64 address = 0;  ///< 0: empty
    u32 address_space = 0;
    u32 classes : 24 = 0;
    u32 offset : 8 = 0;  ///< of the branch behind the address
  };
  u64 classify(const perf::BranchEntry& entry, const perf::SampleSink& code);
  static u64 classes_of(const perf::BranchEntry& entry, u64 instruction);
  void apply_fused(std::vector<perf::BranchEntry>& branches, u64 requested, const perf::SampleSink& code);
  /// Null where there is no readable code.
  const Known* instruction_at(u64 address, const perf::SampleSink& code);

  Sources sources_ = Sources::exact;
  std::vector<Known> known_;  // direct-mapped
  u32 address_space_ = 0;
};

}  // namespace pmusim::driver

#endif
