// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_FOLLOWERS_H
#define PMUSIM_TRACE_FOLLOWERS_H

#include <array>
#include <boost/container/static_vector.hpp>
#include <vector>

#include "trace/prediction.h"

namespace pmusim::trace {

struct CodedBlock;

/// A block as a decoder passes it: what a run of it takes, and what followed it, in one line of the cache.
/// The way through a program with much code is a way through memory, too.
struct alignas(64) Waypoint {
  static constexpr u32 none = ~u32{0};

  std::array<u32, 2> latest{none, none};  // ids of the blocks that followed, the latest first
  u32 older = 0;                          // of them, in Followers, from 1; 0: there are none
  // What follows is known once the block is decoded, and kept from chunk to chunk.
  u32 first_operand = 0;
  const CodedBlock* coded = nullptr;
  u64 start = 0, end = 0;
  u16 instructions = 0, operands = 0, reps = 0;
  bool operands_in_a_row = false;  // their numbers follow on the first one's
  u64 stay = 0;                    // in which it ran last
};
static_assert(sizeof(Waypoint) == 64);

/// The blocks that followed each block in a chunk, the latest first: what SuccessorList is to an encoder.
///
/// Nearly every run goes to one of the latest two. Which of them it is is looked up: a branch on it would be
/// mispredicted as often as the program's own. All is kept from chunk to chunk, so that beginning anew costs
/// what the last chunk has used.
class Followers {
 public:
  static constexpr u32 none = Waypoint::none;

  /// Forgets what followed; there are so many blocks that may come.
  void begin(std::size_t blocks) {
    for (const u32 id : used_) {
      waypoints_[id].latest = {none, none};
      waypoints_[id].older = 0;
    }
    used_.clear();
    older_.clear();
    waypoints_.resize(blocks);
  }

  /// By block id; stays where it is until the next chunk.
  Waypoint& operator[](std::size_t id) { return waypoints_[id]; }

  /// The latest (0) or the one before (1), which is the latest from then on; `none` if there is no such.
  static u32 follow(Waypoint& from, unsigned rank) {
    auto& latest = from.latest;
    const u32 to = latest[rank];
    latest[1] = latest[1 - rank];
    latest[0] = to;
    return to;
  }
  /// The same for any rank.
  u32 move_to_front(u32 from, u64 rank) {
    Waypoint& waypoint = waypoints_[from];
    if (rank < waypoint.latest.size()) return follow(waypoint, static_cast<unsigned>(rank));
    const u64 index = rank - waypoint.latest.size();
    if (waypoint.older == 0 || index >= older_[waypoint.older - 1].size()) return none;
    Older& older = older_[waypoint.older - 1];
    const auto found = older.begin() + static_cast<std::ptrdiff_t>(index);
    const u32 id = *found;
    older.erase(found);
    return push_front(waypoint, id);
  }
  /// One that is not there.
  u32 add(u32 from, u32 to) {
    if (waypoints_[from].latest[0] == none) used_.push_back(from);
    return push_front(waypoints_[from], to);
  }

 private:
  using Older = boost::container::static_vector<u32, SuccessorList::capacity -
                                                         std::tuple_size_v<decltype(Waypoint::latest)>>;

  u32 push_front(Waypoint& waypoint, u32 to) {
    if (waypoint.latest[1] != none) push_older(waypoint, waypoint.latest[1]);
    waypoint.latest[1] = waypoint.latest[0];
    return waypoint.latest[0] = to;
  }
  void push_older(Waypoint& waypoint, u32 id) {
    if (waypoint.older == 0) {
      older_.emplace_back();
      waypoint.older = static_cast<u32>(older_.size());
    }
    Older& older = older_[waypoint.older - 1];
    if (older.size() == older.capacity()) older.pop_back();
    older.insert(older.begin(), id);
  }

  std::vector<Waypoint> waypoints_;  // by block id
  std::vector<Older> older_;
  std::vector<u32> used_;  // ids of waypoints that something followed
};

}  // namespace pmusim::trace

#endif
