// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_FOLLOWERS_H
#define PMUSIM_TRACE_FOLLOWERS_H

#include <array>
#include <boost/container/static_vector.hpp>
#include <vector>

#include "trace/prediction.h"

namespace pmusim::trace {

/// The blocks that followed each block in a chunk, the latest first: what SuccessorList is to an encoder.
///
/// Nearly every run goes to one of the latest two. These stand apart, and which of them it is is looked up: a
/// branch on it would be mispredicted as often as the program's own. All is kept from chunk to chunk, so that
/// beginning anew costs what the last chunk has used.
class Followers {
 public:
  static constexpr u32 none = ~u32{0};

  /// Forgets everything; there are so many blocks that may come.
  void begin(std::size_t blocks) {
    for (const u32 id : used_) entries_[id] = {};
    used_.clear();
    older_.clear();
    entries_.resize(blocks);
  }

  /// The latest (0) or the one before (1), which is the latest from then on; `none` if there is no such.
  u32 follow(u32 from, unsigned rank) {
    auto& latest = entries_[from].latest;
    const u32 to = latest[rank];
    latest[1] = latest[1 - rank];
    latest[0] = to;
    return to;
  }
  /// The same for any rank.
  u32 move_to_front(u32 from, u64 rank) {
    if (rank < latest_count) return follow(from, static_cast<unsigned>(rank));
    const Entry& entry = entries_[from];
    if (entry.older == 0 || rank - latest_count >= older_[entry.older - 1].size()) return none;
    Older& older = older_[entry.older - 1];
    const auto found = older.begin() + static_cast<std::ptrdiff_t>(rank - latest_count);
    const u32 id = *found;
    older.erase(found);
    return push_front(from, id);
  }
  /// One that is not there.
  u32 add(u32 from, u32 to) {
    if (entries_[from].latest[0] == none) used_.push_back(from);
    return push_front(from, to);
  }

 private:
  static constexpr std::size_t latest_count = 2;
  using Older = boost::container::static_vector<u32, SuccessorList::capacity - latest_count>;
  struct Entry {
    std::array<u32, latest_count> latest{none, none};
    u32 older = 0;  // in `older_`, from 1; 0: there are none
  };

  u32 push_front(u32 from, u32 to) {
    Entry& entry = entries_[from];
    if (entry.latest[1] != none) push_older(entry, entry.latest[1]);
    entry.latest[1] = entry.latest[0];
    return entry.latest[0] = to;
  }
  void push_older(Entry& entry, u32 id) {
    if (entry.older == 0) {
      older_.emplace_back();
      entry.older = static_cast<u32>(older_.size());
    }
    Older& older = older_[entry.older - 1];
    if (older.size() == older.capacity()) older.pop_back();
    older.insert(older.begin(), id);
  }

  std::vector<Entry> entries_;  // by block id
  std::vector<Older> older_;
  std::vector<u32> used_;  // ids of entries that are not empty
};

}  // namespace pmusim::trace

#endif
