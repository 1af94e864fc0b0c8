// SPDX-License-Identifier: MIT
#include "call_stacks.h"

#include <algorithm>

#include "code_counts.h"

namespace pmusim::annotate {

u64 CallStacks::child(u64 parent, const Frame& frame) {
  // The reference is to the last element if the node is new.
  const Node& node = nodes_(parent << mode_bits | static_cast<u64>(frame.mode), frame.address);
  return static_cast<u64>(&node - nodes_.values().data()) + 1;
}

void CallStacks::add(std::span<const Frame> outermost_first, std::size_t event, Weight weight) {
  u64 at = 0;
  for (const Frame& frame : outermost_first) at = child(at, frame);
  if (at == 0) return;
  Weights& self = nodes_.values()[at - 1].self;
  if (self.size() <= event) self.resize(event + 1);
  self[event].samples += weight.samples;
  self[event].period += weight.period;
}

void CallStacks::add(const CallStacks& other, const std::function<u64(const Frame&)>& symbol) {
  std::vector<u64> place(other.nodes().size() + 1, 0);
  for (std::size_t i = 0; i < other.nodes().size(); ++i) {
    const Node& node = other.nodes()[i];
    place[i + 1] = child(place[node.parent()], {.address = symbol(node.frame())});
    if (!node.self.empty()) annotate::add(nodes_.values()[place[i + 1] - 1].self, node.self);
  }
}

namespace {

u64 samples_of(const Weights& weights) {
  u64 all = 0;
  for (const Weight& weight : weights) all += weight.samples;
  return all;
}

/// The tree with sums, in the order of CallStacks: the root first.
std::vector<StackNode> with_totals(const CallStacks& stacks, std::size_t events) {
  std::vector<StackNode> tree{{nothing, nothing, Weights(events), Weights(events)}};
  for (const CallStacks::Node& node : stacks.nodes()) {
    tree.push_back({static_cast<u32>(node.parent()), static_cast<u32>(node.address), Weights(events), {}});
    add(tree.back().self, node.self);
    tree.back().total = tree.back().self;
  }
  for (std::size_t i = tree.size(); i-- > 1;) add(tree[tree[i].parent].total, tree[i].total);
  return tree;
}

}  // namespace

std::vector<StackNode> stack_nodes(const CallStacks& stacks, std::size_t events, double min_share) {
  const std::vector<StackNode> all = with_totals(stacks, events);
  if (all.size() == 1) return {};
  const double least = min_share * static_cast<double>(samples_of(all.front().total));
  std::vector<StackNode> kept;
  std::vector<u32> place(all.size(), nothing);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool has_parent = i == 0 || place[all[i].parent] != nothing;
    if (!has_parent || static_cast<double>(samples_of(all[i].total)) < least) continue;
    place[i] = static_cast<u32>(kept.size());
    kept.push_back(all[i]);
    if (i != 0) kept.back().parent = place[all[i].parent];
  }
  return kept;
}

std::vector<Weights> weights_with_callees(const CallStacks& stacks, std::size_t symbols, std::size_t events) {
  std::vector<Weights> sums(symbols, Weights(events));
  std::vector<u64> seen(symbols, 0);  // the last stack that a symbol was met in
  u64 number = 0;
  for (const CallStacks::Node& node : stacks.nodes()) {
    if (node.self.empty()) continue;
    ++number;
    for (const CallStacks::Node* at = &node;; at = &stacks.nodes()[at->parent() - 1]) {
      if (std::exchange(seen[at->address], number) != number) add(sums[at->address], node.self);
      if (at->parent() == 0) break;
    }
  }
  return sums;
}

}  // namespace pmusim::annotate
