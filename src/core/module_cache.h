// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_MODULE_CACHE_H
#define PMUSIM_CORE_MODULE_CACHE_H

#include "core/fill.h"
#include "core/set_associative.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim {

/// The L2 that the cores of a module have together.
///
/// Each core has cycles of its own, and one runs at a time: what another has had under way is there when this
/// one looks.
class ModuleCache {
 public:
  explicit ModuleCache(const CacheGeometry& l2) : lines_(l2.bytes / l2.line_bytes / l2.ways, l2.ways) {}

  /// Null if the line is not there; valid until the next insert().
  const Fill* find(u64 key, u32 core) {
    Line* const line = lines_.find(key);
    if (line == nullptr) return nullptr;
    if (line->core != core) *line = {Fill(), core};
    return &line->fill;
  }
  bool has(u64 key) const { return lines_.has(key); }
  void insert(u64 key, const Fill& fill, u32 core) { lines_.insert(key, {fill, core}); }
  void erase(u64 key) { lines_.erase(key); }
  std::size_t size() const { return lines_.size(); }

 private:
  struct Line {
    Fill fill;
    u32 core = 0;  // that brought it, or has found it last
  };
  SetAssociative<Line> lines_;
};

}  // namespace pmusim

#endif
