#ifndef PMUSIM_PERF_TARGET_H
#define PMUSIM_PERF_TARGET_H

#include <span>
#include <vector>

#include "pmusim/base/bus.h"

namespace pmusim::perf {

/// What can be asked about the program that runs. The defaults are those of a trace that does not tell.
class Target {
 public:
  virtual ~Target() = default;
  /// Up to `bytes` bytes of the current task's code or memory, fewer where it is not readable or not known.
  virtual std::vector<std::byte> read_code(u64, std::size_t) const { return {}; }
  virtual std::vector<std::byte> read_memory(u64, std::size_t) const { return {}; }
  /// What the current task had in user mode when it last entered the kernel; null: not known, or no such
  /// task.
  virtual const Registers* user_registers() const { return nullptr; }
  /// Size in bytes of the page that maps the address; 0: unknown.
  virtual u64 page_size(u64) const { return 0; }
};

}  // namespace pmusim::perf

#endif
