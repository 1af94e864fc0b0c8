// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_SOURCE_H
#define PMUSIM_TRACE_SOURCE_H

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/trace/happening.h"
#include "pmusim/trace/program.h"

/// Where a replay takes its program from.
namespace pmusim::trace {

using Item = std::variant<BlockRun, Happening>;

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

 private:
  const Item* item_ = nullptr;
};

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
class Source : public Program {
 public:
  /// Retired instructions from beginning to end; nothing while nobody knows.
  virtual std::optional<u64> length() const = 0;
  /// Of a trace that ends before its recording did: one sentence for the user.
  virtual const std::optional<std::string>& truncation() const = 0;

  /// The next item in program order, nothing at the end. What it refers to is valid until the next call, its
  /// block as long as the source. Errors: what the source says about itself, with its name.
  virtual Result<NextItem, Error> next() = 0;
};

}  // namespace pmusim::trace

#endif
