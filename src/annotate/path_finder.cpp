// SPDX-License-Identifier: MIT
#include "path_finder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace pmusim::annotate {

namespace {

constexpr std::size_t longest_path = 32;
constexpr u64 rarer = 4;

/// Code, and the call that it was reached by: the same function is another step of a path when it is called
/// from another place.
struct Point {
  Location at;
  std::optional<Location> caller;  ///< the call instruction, where the path has come through it
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct Step {
  Point first;
  Location last;
  u64 executions, taken;
};
using Steps = std::vector<Step>;

class PathFinder {
 public:
  PathFinder(const CodeCounts& code, Resolver& resolver, u32 most_paths, const PlaceOf& place)
      : code_(code), resolver_(resolver), most_paths_(most_paths), place_(place), used_(code.edges.size()) {}

  std::vector<HotPath> find() {
    std::vector<u32> seeds(code_.edges.size());
    std::iota(seeds.begin(), seeds.end(), u32{0});
    std::ranges::stable_sort(seeds, std::greater{}, [&](u32 n) { return code_.edges[n].count.taken; });
    for (const u32 seed : seeds) {
      if (paths_.size() >= most_paths_) break;
      if (!used_[seed] && !is_on_path(code_.edges[seed].to)) follow(seed);
    }
    return std::move(paths_);
  }

 private:
  bool is_on_path(const Location& at) const {
    const auto known = path_at_.lower_bound(Point{at, std::nullopt});
    return known != path_at_.end() && known->first.at == at;
  }

  const LineCount* hottest_line_from(const Location& at) const {
    const std::vector<LineCount>& lines = code_.modules[at.module].lines;
    const auto begin = std::ranges::lower_bound(lines, at.address, {}, &LineCount::first);
    const auto end = std::ranges::upper_bound(lines, at.address, {}, &LineCount::first);
    const auto hottest = std::ranges::max_element(begin, end, {}, &LineCount::executions);
    return hottest == end ? nullptr : &*hottest;
  }

  /// Of all branches from there the most frequent; but what returns, returns to where it was called from.
  std::optional<u32> hottest_edge_from(const Location& at) const {
    const auto begin = std::ranges::lower_bound(code_.edges, at, {}, &CodeEdge::from);
    const auto end = std::ranges::upper_bound(code_.edges, at, {}, &CodeEdge::from);
    const auto rank = [&](const CodeEdge& e) { return std::pair(returns_to_caller(e), e.count.taken); };
    const auto hottest = std::ranges::max_element(begin, end, {}, rank);
    if (hottest == end) return std::nullopt;
    return static_cast<u32>(hottest - code_.edges.begin());
  }

  bool returns_to_caller(const CodeEdge& edge) const {
    constexpr u64 longest_instruction = 15;
    return !calls_.empty() && calls_.back().module == edge.to.module &&
           calls_.back().address < edge.to.address &&
           edge.to.address - calls_.back().address <= longest_instruction;
  }
  bool is_call(const CodeEdge& edge) const {
    const u32 to = resolver_.symbol_at(edge.to);
    return resolver_.symbols()[to].start == edge.to.address && to != resolver_.symbol_at(edge.from);
  }
  /// Where a branch leads, after noting calls and returns.
  Point target_of(const CodeEdge& edge) {
    if (returns_to_caller(edge))
      calls_.pop_back();
    else if (is_call(edge))
      calls_.push_back(edge.from);
    return {edge.to, calls_.empty() ? std::nullopt : std::optional(calls_.back())};
  }

  void follow(u32 seed) {
    used_[seed] = true;
    calls_.clear();
    const u64 taken = code_.edges[seed].count.taken;
    Steps steps;
    Point at = target_of(code_.edges[seed]);
    auto own = steps.end();
    while (steps.size() < longest_path && !path_at_.contains(at)) {
      own = std::ranges::find(steps, at, &Step::first);
      if (own != steps.end() || !go_on(steps, at, taken / rarer)) break;
      own = steps.end();
    }
    const auto known = path_at_.find(at);
    const u32 joins = known == path_at_.end() ? nothing : known->second;
    if (own == steps.end()) return add(steps, taken, joins);
    const Steps loop(own, steps.end());
    steps.erase(own, steps.end());
    const auto number = static_cast<u32>(paths_.size());
    add_loop(loop);
    add(steps, taken, number);
  }

  /// One step from `at`, which moves to where it leads; false where the way ends.
  bool go_on(Steps& steps, Point& at, u64 least_taken) {
    const LineCount* const line = hottest_line_from(at.at);
    if (line == nullptr) return false;
    const Location last{at.at.module, line->last};
    const auto edge = hottest_edge_from(last);
    if (!edge || code_.edges[*edge].count.taken < least_taken) return false;
    used_[*edge] = true;
    steps.push_back({at, last, line->executions, code_.edges[*edge].count.taken});
    at = target_of(code_.edges[*edge]);
    return true;
  }

  void add_loop(Steps loop) {
    std::rotate(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(head_of(loop)), loop.end());
    add(loop, std::ranges::min(loop, {}, &Step::taken).taken, nothing);
    paths_.back().is_loop = true;
  }

  /// Where a loop begins: at the lowest target of a branch back within a function; without one, at the lowest
  /// address.
  std::size_t head_of(const Steps& loop) const {
    const auto rank = [&](std::size_t n) {
      const Location& last = loop[(n + loop.size() - 1) % loop.size()].last;
      const Point& first = loop[n].first;
      const bool goes_back = resolver_.symbol_at(last) == resolver_.symbol_at(first.at) && first.at <= last;
      return std::tuple(!goes_back, first);
    };
    std::size_t head = 0;
    for (std::size_t n = 1; n < loop.size(); ++n)
      if (rank(n) < rank(head)) head = n;
    return head;
  }

  void add(const Steps& steps, u64 executions, u32 joins) {
    if (steps.empty()) return;
    HotPath path{.joins = joins, .executions = executions};
    for (const Step& step : steps) {
      path_at_.emplace(step.first, static_cast<u32>(paths_.size()));
      path.steps.push_back({place_(step.first.at), place_(step.last), step.executions, step.taken});
      path.executions = std::min(path.executions, step.taken);
    }
    paths_.push_back(std::move(path));
  }

  const CodeCounts& code_;
  Resolver& resolver_;
  u32 most_paths_;
  const PlaceOf& place_;
  std::vector<bool> used_;        ///< by number of the edge
  std::vector<Location> calls_;   ///< of the path at hand that have not returned
  std::map<Point, u32> path_at_;  ///< the path that has a step from there
  std::vector<HotPath> paths_;
};

}  // namespace

std::vector<HotPath> find_paths(const CodeCounts& code, Resolver& resolver, u32 count, const PlaceOf& place) {
  return PathFinder(code, resolver, count, place).find();
}

}  // namespace pmusim::annotate
