// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_PROCESSES_H
#define PMUSIM_SRC_WHY_PROCESSES_H

#include <sys/mman.h>

#include <string>
#include <utility>

#include "annotate/mapped_name.h"
#include "pmusim/trace/trace.h"
#include "symbols/address_space.h"

namespace pmusim::why {

/// The address spaces of a trace's processes as its records change them, and which of them runs.
class Processes {
 public:
  Processes(symbols::AddressSpaces& spaces, std::string jit_directory)
      : spaces_(spaces), jit_directory_(std::move(jit_directory)) {}

  void take(const trace::SideBandRecord& record) {
    ++time_;
    if (const auto* const map = std::get_if<trace::Map>(&record)) add(map->pid, map->mapping);
    if (const auto* const thread = std::get_if<trace::ThreadStart>(&record);
        thread != nullptr && thread->pid != thread->parent_pid)
      spaces_.fork(thread->parent_pid, thread->pid, time_);
    if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) {
      if (start->exec) spaces_.exec(start->pid, time_);
      pid_ = start->pid;
    }
    if (const auto* const change = std::get_if<trace::ThreadSwitch>(&record)) pid_ = change->pid;
  }
  symbols::AddressSpaces::Id running() const { return spaces_.find(pid_, time_).value_or(~u32{0}); }

 private:
  void add(u32 pid, const trace::Mapping& mapping) {
    if ((mapping.protection & PROT_EXEC) == 0 || mapping.bytes > ~mapping.start) return;
    // Addresses in a JIT compiler's map are those of the process.
    const bool anonymous = annotate::is_anonymous(mapping.path);
    symbols::FileIdentity file{anonymous ? annotate::jit_map(jit_directory_, pid) : mapping.path, {}};
    if (!anonymous)
      for (const u8 byte : mapping.build_id) file.build_id.push_back(static_cast<std::byte>(byte));
    spaces_.map(pid, time_,
                {.start = mapping.start,
                 .end = mapping.start + mapping.bytes,
                 .file_offset = anonymous ? mapping.start : mapping.file_offset,
                 .file = spaces_.add_file(std::move(file))});
  }

  symbols::AddressSpaces& spaces_;
  std::string jit_directory_;
  u64 time_ = 0;
  u32 pid_ = 0;
};

}  // namespace pmusim::why

#endif
