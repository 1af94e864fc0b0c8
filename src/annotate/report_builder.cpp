// SPDX-License-Identifier: MIT
#include "report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "function_builder.h"
#include "path_finder.h"
#include "source_files.h"

namespace pmusim::annotate {

namespace {

class Builder {
 public:
  Builder(Report& report, const CodeCounts& code, Resolver& resolver, const Options& options)
      : report_(report), code_(code), resolver_(resolver), options_(options) {}

  void build(const std::map<CodeSpace, SpaceCounts>& spaces) {
    count_symbols();
    merge_stacks(spaces);
    rank_modules();
    rank_symbols();
    rank_lines();
    rank_branches();
    annotate_functions();
    report_.paths =
        find_paths(code_, resolver_, options_.max_paths, [&](const Location& l) { return place(l); });
    if (report_.stack_source != StackSource::none)
      report_.stacks = stack_nodes(stacks_, events(), options_.min_stack_share);
    for (StackNode& node : report_.stacks)
      if (node.symbol != nothing) node.symbol = rank_of_symbol_[node.symbol];
    report_.files = files_.take();
    report_.totals.blocks = code_.lines;
    report_.totals.broken_blocks = code_.broken_lines;
    note_what_is_missing();
  }

 private:
  std::size_t events() const { return report_.events.size(); }

  Symbol& symbol(u32 number) {
    while (symbols_.size() <= number) {
      const Resolver::KnownSymbol& known = resolver_.symbols()[symbols_.size()];
      symbols_.push_back(
          {known.name, known.linkage_name, known.module, known.start, known.end, Weights(events()), {}});
    }
    return symbols_[number];
  }

  /// Gives every place a symbol, so that the numbers of the resolver are final.
  void count_symbols() {
    for (u32 m = 0; m < code_.modules.size(); ++m) {
      for (const auto& [address, weights] : code_.modules[m].hits)
        add(symbol(resolver_.symbol_at({m, address})).weights, weights);
      for (const BlockRange& range : code_.modules[m].ranges.ranges())
        symbol(resolver_.symbol_at({m, range.first}));
    }
    for (const CodeEdge& edge : code_.edges) {
      symbol(resolver_.symbol_at(edge.from));
      symbol(resolver_.symbol_at(edge.to));
    }
    for (Symbol& s : symbols_)
      if (s.module < code_.modules.size())
        s.max_coverage = code_.modules[s.module].ranges.max_coverage(s.start, s.end);
  }

  void merge_stacks(const std::map<CodeSpace, SpaceCounts>& spaces) {
    for (const auto& [space, counts] : spaces)
      stacks_.add(counts.stacks, [&, id = space.id](const Frame& frame) {
        const u32 number = resolver_.symbol_at(resolver_.locate({id, frame.mode}, frame.address));
        symbol(number);
        return number;
      });
    const bool known = report_.stack_source != StackSource::none;
    const auto sums =
        known ? weights_with_callees(stacks_, symbols_.size(), events()) : std::vector<Weights>{};
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      symbols_[i].with_callees = known ? sums[i] : symbols_[i].weights;
  }

  template <class Item, class Key>
  static std::vector<u32> ranking(const std::vector<Item>& items, Key key) {
    std::vector<u32> order(items.size());
    std::iota(order.begin(), order.end(), u32{0});
    std::ranges::sort(order, [&](u32 a, u32 b) { return key(items[a]) < key(items[b]); });
    return order;
  }
  static std::vector<u32> inverse(const std::vector<u32>& order) {
    std::vector<u32> rank(order.size());
    for (u32 i = 0; i < order.size(); ++i) rank[order[i]] = i;
    return rank;
  }
  /// Hottest first: every figure is turned around.
  static std::vector<u64> coldness(const Weights& weights) {
    std::vector<u64> cold = heat_of(weights);
    for (u64& value : cold) value = ~value;
    return cold;
  }

  void rank_modules() {
    std::vector<Module> modules;
    for (const Resolver::OpenModule& m : resolver_.modules())
      modules.push_back({m.path, m.content.build_id(), m.content.problem(), Weights(events())});
    for (const Symbol& s : symbols_) add(modules[s.module].weights, s.weights);
    const auto order =
        ranking(modules, [](const Module& m) { return std::tuple(coldness(m.weights), m.path, m.build_id); });
    rank_of_module_ = inverse(order);
    for (const u32 number : order) report_.modules.push_back(std::move(modules[number]));
  }

  void rank_symbols() {
    const auto order = ranking(symbols_, [&](const Symbol& s) {
      return std::tuple(coldness(s.weights), ~s.max_coverage, s.name, rank_of_module_[s.module], s.start);
    });
    rank_of_symbol_ = inverse(order);
    for (const u32 number : order) {
      report_.symbols.push_back(symbols_[number]);
      report_.symbols.back().module = rank_of_module_[symbols_[number].module];
    }
    number_of_symbol_ = order;
  }

  symbols::Module& content(u32 module) { return resolver_.modules()[module].content; }

  Place place(const Location& at) {
    return {rank_of_symbol_[resolver_.symbol_at(at)], at.address,
            files_.number(content(at.module).position(at.address))};
  }

  void rank_lines() {
    std::map<std::tuple<u32, u32, u32>, RankedLine> lines;  // file, line, symbol
    for (u32 m = 0; m < code_.modules.size(); ++m)
      for (const auto& [address, weights] : code_.modules[m].hits) {
        const Place at = place({m, address});
        if (at.where.line == 0) continue;
        RankedLine& line = lines[{at.where.file, at.where.line, at.symbol}];
        line.where = at.where;
        line.symbol = at.symbol;
        add(line.weights, weights);
      }
    for (auto& [key, line] : lines) report_.lines.push_back(std::move(line));
    std::ranges::stable_sort(report_.lines, {},
                             [](const RankedLine& line) { return coldness(line.weights); });
    if (report_.lines.size() > options_.max_lines) report_.lines.resize(options_.max_lines);
  }

  void rank_branches() {
    std::vector<const CodeEdge*> edges;
    for (const CodeEdge& edge : code_.edges) edges.push_back(&edge);
    const auto hotter = [](const CodeEdge* a, const CodeEdge* b) {
      return std::tuple(b->count.taken, a) < std::tuple(a->count.taken, b);
    };
    const std::size_t kept = std::min<std::size_t>(edges.size(), options_.max_branches);
    std::ranges::partial_sort(edges, edges.begin() + static_cast<std::ptrdiff_t>(kept), hotter);
    edges.resize(kept);
    for (const CodeEdge* edge : edges) {
      const EdgeCount& c = edge->count;
      report_.branches.push_back(
          {place(edge->from), place(edge->to), c.taken, c.predicted, c.mispredicted, c.timed, c.cycles});
    }
  }

  bool is_wanted(const Symbol& s) const {
    if (s.start == s.end) return false;
    if (options_.symbols.empty()) return has_samples(s.weights) || s.max_coverage != 0;
    return std::ranges::any_of(
        options_.symbols, [&](const std::string& name) { return has_name(s.name, s.linkage_name, name); });
  }

  void annotate_functions() {
    const Jumps jumps = jumps_by_symbol(code_, resolver_);
    for (u32 rank = 0; rank < report_.symbols.size(); ++rank) {
      if (report_.functions.size() >= options_.max_functions || !is_wanted(report_.symbols[rank])) continue;
      const u32 module = symbols_[number_of_symbol_[rank]].module;
      FunctionBuilder builder(report_, files_, resolver_, code_.modules[module], module, options_);
      const auto inside = jumps.find(number_of_symbol_[rank]);
      report_.functions.push_back(
          builder.build(rank, inside == jumps.end() ? std::vector<EdgeCount>{} : inside->second));
      report_.symbols[rank].function = static_cast<u32>(report_.functions.size() - 1);
    }
  }

  void note_what_is_missing() {
    // Some of it shows only when lines are looked up.
    for (u32 number = 0; number < rank_of_module_.size(); ++number)
      report_.modules[rank_of_module_[number]].problem = content(number).problem();
    for (const Module& m : report_.modules)
      if (!m.problem.empty() && has_samples(m.weights))
        report_.notes.push_back(fmt::format("{}: {}", m.path, m.problem));
    if (report_.totals.broken_blocks != 0)
      report_.notes.push_back(fmt::format(
          "{} of {} neighbouring branches bound no straight line (a branch between them was not recorded)",
          report_.totals.broken_blocks, report_.totals.broken_blocks + report_.totals.blocks));
  }

  Report& report_;
  const CodeCounts& code_;
  Resolver& resolver_;
  const Options& options_;
  SourceFiles files_;
  std::vector<Symbol> symbols_;  // by number of the resolver; with its module numbers
  std::vector<u32> rank_of_module_, rank_of_symbol_, number_of_symbol_;
  CallStacks stacks_;
};

}  // namespace

void build_report(Report& report, const std::map<CodeSpace, SpaceCounts>& spaces, Resolver& resolver,
                  const Options& options) {
  const CodeCounts code = sum_up(spaces, report.events.size(), resolver);
  Builder(report, code, resolver, options).build(spaces);
}

}  // namespace pmusim::annotate
