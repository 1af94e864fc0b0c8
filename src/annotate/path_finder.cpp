#include "path_finder.h"

#include <algorithm>
#include <set>

namespace pmusim::annotate {

namespace {

constexpr std::size_t longest_path = 32;
constexpr u64 rarer = 4;

class PathFinder {
 public:
  explicit PathFinder(const CodeCounts& code) {
    for (u32 m = 0; m < code.modules.size(); ++m)
      for (const auto& [ends, line] : code.modules[m].lines) {
        const LineCount*& hottest = line_from_[{m, line.first}];
        if (hottest == nullptr || line.executions > hottest->executions) hottest = &line;
      }
    for (const auto& edge : code.edges) {
      edges_.push_back(&edge);
      const Edge*& hottest = edge_from_[edge.first.first];
      if (hottest == nullptr || edge.second.taken > hottest->second.taken) hottest = &edge;
    }
    std::ranges::stable_sort(edges_,
                             [](const Edge* a, const Edge* b) { return a->second.taken > b->second.taken; });
  }

  std::vector<HotPath> find(u32 count, const std::function<Place(const Location&)>& place) {
    std::vector<HotPath> paths;
    for (const Edge* seed : edges_) {
      if (paths.size() >= count) break;
      if (used_.contains(seed)) continue;
      HotPath path = follow(*seed, place);
      if (!path.steps.empty()) paths.push_back(std::move(path));
    }
    std::ranges::stable_sort(paths, std::greater{}, &HotPath::executions);
    return paths;
  }

 private:
  using Edge = std::pair<const std::pair<Location, Location>, EdgeCount>;

  HotPath follow(const Edge& seed, const std::function<Place(const Location&)>& place) {
    used_.insert(&seed);
    HotPath path;
    std::set<Location> visited;
    const Location start = seed.first.second;
    path.executions = seed.second.taken;
    for (Location at = start; path.steps.size() < longest_path && visited.insert(at).second;) {
      const auto line = line_from_.find(at);
      if (line == line_from_.end()) break;
      const Location end{at.module, line->second->last};
      const auto edge = edge_from_.find(end);
      if (edge == edge_from_.end() || edge->second->second.taken < seed.second.taken / rarer) break;
      used_.insert(edge->second);
      path.steps.push_back({place(at), place(end), line->second->executions, edge->second->second.taken});
      path.executions = std::min(path.executions, edge->second->second.taken);
      at = edge->second->first.second;
      path.is_loop = at == start;
    }
    return path;
  }

  std::map<Location, const LineCount*> line_from_;
  std::map<Location, const Edge*> edge_from_;
  std::vector<const Edge*> edges_;
  std::set<const Edge*> used_;
};

}  // namespace

std::vector<HotPath> find_paths(const CodeCounts& code, u32 count,
                                const std::function<Place(const Location&)>& place) {
  return PathFinder(code).find(count, place);
}

}  // namespace pmusim::annotate
