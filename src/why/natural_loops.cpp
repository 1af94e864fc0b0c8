// SPDX-License-Identifier: MIT
#include "why/natural_loops.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace pmusim::why {

namespace {

constexpr u32 no_block = ~u32{0};

/// Immediate dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
/// Algorithm"), below one root that leads to all entries.
class Dominators {
 public:
  Dominators(const std::vector<BasicBlock>& graph, const std::vector<u32>& entries)
      : graph_(graph),
        before_(graph.size()),
        number_(graph.size(), no_block),
        above_(graph.size(), no_block) {
    for (u32 n = 0; n < graph.size(); ++n)
      for (const u32 next : graph[n].next) before_[next].push_back(n);
    is_entry_.resize(graph.size());
    for (const u32 entry : entries) start_at(entry);
    for (u32 n = 0; n < graph.size(); ++n)
      if (before_[n].empty()) start_at(n);
    for (u32 n = 0; n < graph.size(); ++n)
      if (number_[n] == no_block) start_at(n);
    iterate();
  }

  bool dominates(u32 above, u32 below) const {
    while (below != no_block && number_[below] < number_[above]) below = above_[below];
    return below == above;
  }
  const std::vector<u32>& before(u32 block) const { return before_[block]; }

 private:
  /// Numbers blocks in postorder, without recursion: graphs are deep.
  void start_at(u32 entry) {
    is_entry_[entry] = true;
    if (number_[entry] != no_block) return;
    std::vector<std::pair<u32, std::size_t>> path{{entry, 0}};
    constexpr u32 on_path = no_block - 1;
    number_[entry] = on_path;
    while (!path.empty()) {
      auto& [block, next] = path.back();
      if (next == graph_[block].next.size()) {
        number_[block] = static_cast<u32>(postorder_.size());
        postorder_.push_back(block);
        path.pop_back();
        continue;
      }
      const u32 to = graph_[block].next[next++];
      if (number_[to] != no_block) continue;
      number_[to] = on_path;
      path.emplace_back(to, 0);
    }
  }

  /// `no_block` stands for the root, which is above everything.
  u32 common(u32 a, u32 b) const {
    while (a != b) {
      if (a == no_block || b == no_block) return no_block;
      (number_[a] < number_[b] ? a : b) = above_[number_[a] < number_[b] ? a : b];
    }
    return a;
  }

  void iterate() {
    std::vector<bool> known(graph_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = postorder_.rbegin(); block != postorder_.rend(); ++block) {
        std::optional<u32> above;
        if (is_entry_[*block]) above = no_block;
        for (const u32 b : before_[*block])
          if (known[b]) above = above ? common(*above, b) : b;
        if (!above || (known[*block] && above_[*block] == *above)) continue;
        above_[*block] = *above;
        known[*block] = changed = true;
      }
    }
  }

  const std::vector<BasicBlock>& graph_;
  std::vector<std::vector<u32>> before_;
  std::vector<u32> number_, above_, postorder_;
  std::vector<bool> is_entry_;
};

}  // namespace

std::vector<NaturalLoop> natural_loops(const std::vector<BasicBlock>& graph,
                                       const std::vector<u32>& entries) {
  const Dominators dominators(graph, entries);
  std::map<u32, std::vector<u32>> last_blocks;  // of each header
  for (u32 n = 0; n < graph.size(); ++n)
    for (const u32 next : graph[n].next)
      if (dominators.dominates(next, n)) last_blocks[next].push_back(n);
  std::vector<NaturalLoop> loops;
  std::vector<u32> in_loop(graph.size(), no_block);
  for (const auto& [header, last] : last_blocks) {
    NaturalLoop loop{header};
    in_loop[header] = header;
    const auto add = [&, head = header](u32 block) {
      if (std::exchange(in_loop[block], head) != head) loop.push_back(block);
    };
    for (const u32 block : last) add(block);
    for (std::size_t n = 1; n < loop.size(); ++n)
      for (const u32 block : dominators.before(loop[n])) add(block);
    loops.push_back(std::move(loop));
  }
  std::ranges::stable_sort(loops, std::greater{}, &NaturalLoop::size);
  return loops;
}

}  // namespace pmusim::why
