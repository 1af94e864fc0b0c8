// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_SOURCE_H
#define PMUSIM_TRACE_SOURCE_H

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/trace/block.h"
#include "pmusim/trace/side_band.h"

/// Where a replay takes its program from.
namespace pmusim::trace {

/// What can be asked about a program that is watched, whether it comes out of a trace or runs.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

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
  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;
};

using Item = std::variant<BlockRun, SideBandRecord>;

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
class Source : public Program {
 public:
  /// Retired instructions from beginning to end; nothing while nobody knows.
  virtual std::optional<u64> length() const = 0;
  /// Of a trace that ends before its recording did: one sentence for the user.
  virtual const std::optional<std::string>& truncation() const = 0;

  /// The next item in program order, nothing at the end. What it refers to is valid until the next call, its
  /// block as long as the source. Errors: what the source says about itself, with its name.
  virtual Result<NextItem, Error> next() = 0;

  /// Nobody is going to look at it: runs may come without, as if the source had none. Registers come all
  /// the same where extended ones are. Before the first next().
  virtual void leave_out(Detail) {}

  /// The same program from where this source began, to be read beside it. Errors: it can be read once.
  virtual Result<std::unique_ptr<Source>, Error> again() const {
    return Failure(Error("the program can be read once; a trace in a file can be read again"));
  }
};

}  // namespace pmusim::trace

#endif
