// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_CALL_STACKS_H
#define PMUSIM_SRC_ANNOTATE_CALL_STACKS_H

#include <functional>
#include <span>
#include <vector>

#include "annotate/pair_table.h"
#include "perf/cpu_mode.h"
#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

struct Frame {
  u64 address = 0;  ///< or a symbol
  perf::CpuMode mode = perf::CpuMode::unknown;
};

/// Call stacks as a tree, so that what stacks have in common is kept once. Node 0 is the root.
class CallStacks {
 public:
  struct Node {
    u64 parent_and_mode = 0, address = 0;
    Weights self = {};
    u64 parent() const { return parent_and_mode >> mode_bits; }
    Frame frame() const {
      return {address, static_cast<perf::CpuMode>(parent_and_mode & low_bits(mode_bits))};
    }
    std::pair<u64, u64> key() const { return {parent_and_mode, address}; }
  };

  /// `outermost_first` are the frames of a sample.
  void add(std::span<const Frame> outermost_first, std::size_t event, Weight weight);
  /// Adds another tree, of which `symbol` names the frames.
  void add(const CallStacks& other, const std::function<u64(const Frame&)>& symbol);

  /// Without the root. Node i of the tree is nodes()[i - 1]; parents stand before their children.
  const std::vector<Node>& nodes() const { return nodes_.values(); }

 private:
  static constexpr unsigned mode_bits = 8;
  u64 child(u64 parent, const Frame& frame);
  PairTable<Node> nodes_;
};

/// A tree over symbols as a report has it, without nodes of less than `min_share` of the samples of all
/// events.
std::vector<StackNode> stack_nodes(const CallStacks& stacks, std::size_t events, double min_share);

/// For each of `symbols`, the samples in it or in what it called. A symbol that calls itself counts once.
std::vector<Weights> weights_with_callees(const CallStacks& stacks, std::size_t symbols, std::size_t events);

}  // namespace pmusim::annotate

#endif
