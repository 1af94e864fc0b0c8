#include "path_finder.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <tuple>

namespace pmusim::annotate {

namespace {

constexpr std::size_t longest_path = 32;
constexpr u64 rarer = 4;

class PathFinder {
 public:
  PathFinder(const CodeCounts& code, u32 most_paths, const std::function<Place(const Location&)>& place)
      : code_(code), most_paths_(most_paths), place_(place), used_(code.edges.size(), false) {}

  std::vector<HotPath> find() {
    std::vector<u32> seeds(code_.edges.size());
    std::iota(seeds.begin(), seeds.end(), u32{0});
    std::ranges::stable_sort(seeds, std::greater{}, [&](u32 n) { return code_.edges[n].count.taken; });
    for (const u32 seed : seeds) {
      if (paths_.size() >= most_paths_) break;
      if (!used_[seed]) follow(seed);
    }
    return ranked();
  }

 private:
  struct Step {
    Location first, last;
    u64 executions, taken;
  };
  using Steps = std::vector<Step>;

  const LineCount* hottest_line_from(const Location& at) const {
    const std::vector<LineCount>& lines = code_.modules[at.module].lines;
    const auto begin = std::ranges::lower_bound(lines, at.address, {}, &LineCount::first);
    const auto end = std::ranges::upper_bound(lines, at.address, {}, &LineCount::first);
    const auto hottest = std::ranges::max_element(begin, end, {}, &LineCount::executions);
    return hottest == end ? nullptr : &*hottest;
  }
  std::optional<u32> hottest_edge_from(const Location& at) const {
    const auto begin = std::ranges::lower_bound(code_.edges, at, {}, &CodeEdge::from);
    const auto end = std::ranges::upper_bound(code_.edges, at, {}, &CodeEdge::from);
    const auto hottest =
        std::ranges::max_element(begin, end, {}, [](const CodeEdge& e) { return e.count.taken; });
    if (hottest == end) return std::nullopt;
    return static_cast<u32>(hottest - code_.edges.begin());
  }

  void follow(u32 seed) {
    used_[seed] = true;
    const u64 taken = code_.edges[seed].count.taken;
    Steps steps;
    Location at = code_.edges[seed].to;
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
  bool go_on(Steps& steps, Location& at, u64 least_taken) {
    const LineCount* const line = hottest_line_from(at);
    if (line == nullptr) return false;
    const Location last{at.module, line->last};
    const auto edge = hottest_edge_from(last);
    if (!edge || code_.edges[*edge].count.taken < least_taken) return false;
    used_[*edge] = true;
    steps.push_back({at, last, line->executions, code_.edges[*edge].count.taken});
    at = code_.edges[*edge].to;
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
      const Place last = place_(loop[(n + loop.size() - 1) % loop.size()].last),
                  first = place_(loop[n].first);
      const bool goes_back = last.symbol == first.symbol && first.address <= last.address;
      return std::tuple(!goes_back, loop[n].first);
    };
    std::size_t head = 0;
    for (std::size_t n = 1; n < loop.size(); ++n)
      if (rank(n) < rank(head)) head = n;
    return head;
  }

  void add(const Steps& steps, u64 executions, u32 joins) {
    if (steps.empty() || paths_.size() >= most_paths_) return;
    HotPath path{.joins = joins, .executions = executions};
    for (const Step& step : steps) {
      path_at_.emplace(step.first, static_cast<u32>(paths_.size()));
      path.steps.push_back({place_(step.first), place_(step.last), step.executions, step.taken});
      path.executions = std::min(path.executions, step.taken);
    }
    paths_.push_back(std::move(path));
  }

  /// Most often executed first; `joins` follows the paths to their new places.
  std::vector<HotPath> ranked() {
    std::vector<u32> order(paths_.size()), rank(paths_.size());
    std::iota(order.begin(), order.end(), u32{0});
    std::ranges::stable_sort(order, std::greater{}, [&](u32 n) { return paths_[n].executions; });
    for (u32 i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::vector<HotPath> all;
    for (const u32 n : order) {
      all.push_back(std::move(paths_[n]));
      if (all.back().joins != nothing) all.back().joins = rank[all.back().joins];
    }
    return all;
  }

  const CodeCounts& code_;
  u32 most_paths_;
  const std::function<Place(const Location&)>& place_;
  std::vector<bool> used_;           ///< by number of the edge
  std::map<Location, u32> path_at_;  ///< the path that has a step from there
  std::vector<HotPath> paths_;
};

}  // namespace

std::vector<HotPath> find_paths(const CodeCounts& code, u32 count,
                                const std::function<Place(const Location&)>& place) {
  return PathFinder(code, count, place).find();
}

}  // namespace pmusim::annotate
