// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "base/base_name.h"
#include "base/printable.h"
#include "why/report.h"

namespace pmusim::why {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Cause::count_)> cause_names{
    "mispredicts",      "machine_clears",   "cache_misses",   "page_walks",   "tlb_misses",
    "store_forwarding", "address_aliasing", "split_accesses", "locked",       "division",
    "dependency_chain", "execution",        "load_latency",   "store_buffer", "front_end"};

/// Cycles of a line by cause. Causes may overlap: a load may both miss the TLB and a cache.
using CauseCycles = std::array<u64, static_cast<std::size_t>(Cause::count_)>;

u64 less(u64 whole, u64 part) { return whole > part ? whole - part : 0; }

/// Cycles between the retirement before an instruction and its own.
u64 own_cycles(const Counts& c) {
  return less(c[Column::cycles], c[Column::mispredict_cycles] + c[Column::clear_cycles]);
}

/// What an instruction waits for is known by its kind where the account of slots only says "execution".
void add_causes(const Instruction& instruction, unsigned width, CauseCycles& cycles) {
  const Counts& c = instruction.counts;
  const auto add = [&](Cause cause, u64 part) { cycles[static_cast<std::size_t>(cause)] += part; };
  const u64 special =
      c[Column::blocked_cycles] + c[Column::alias_cycles] + c[Column::split_cycles] + c[Column::tlb_cycles];
  add(Cause::mispredicts, c[Column::mispredict_cycles]);
  add(Cause::machine_clears, c[Column::clear_cycles]);
  add(Cause::cache_misses, c[Column::l1_miss_cycles]);
  add(Cause::page_walks, c[Column::walk_cycles]);
  add(Cause::tlb_misses, c[Column::tlb_cycles]);
  add(Cause::store_forwarding, c[Column::blocked_cycles]);
  add(Cause::address_aliasing, c[Column::alias_cycles]);
  add(Cause::split_accesses, c[Column::split_cycles]);
  add(Cause::store_buffer, c[Column::store_buffer_slots] / width);
  add(Cause::front_end, c[Column::frontend_slots] / width);
  const u64 waits_for_execution = less(c[Column::backend_slots], c[Column::memory_slots]) / width;
  const u64 hits = less(c[Column::load_cycles], c[Column::l1_miss_cycles] + special);
  if (c[Column::locked] != 0) return add(Cause::locked, own_cycles(c));
  if (c[Column::divisions] != 0)
    return add(Cause::division,
               std::max(waits_for_execution, less(own_cycles(c), c[Column::l1_miss_cycles])));
  add(instruction.chain.loops ? Cause::dependency_chain : Cause::execution, waits_for_execution);
  add(Cause::load_latency, hits);
}

/// A line with the words for its sentences.
class LineWords {
 public:
  LineWords(const Report& report, const Line& line) : report_(report), line_(line), c_(line.counts) {}

  std::string sentence(Cause cause, u64 cycles) const {
    const std::string of =
        fmt::format("{:.0f} % of the cycles of {} ({} of {})", 100 * ratio(cycles, c_[Column::cycles]),
                    place_name(report_, line_), cycles, c_[Column::cycles]);
    return of + " " + predicate(cause);
  }

 private:
  std::string predicate(Cause cause) const {
    switch (cause) {
      case Cause::mispredicts:
        return fmt::format(
            "refill the pipeline after mispredicts: {} of its {} branches ({:.1f} %), {:.1f} cycles each",
            c_[Column::mispredicts], c_[Column::branches],
            100 * ratio(c_[Column::mispredicts], c_[Column::branches]),
            ratio(c_[Column::mispredict_cycles], c_[Column::mispredicts]));
      case Cause::machine_clears:
        return fmt::format("refill the pipeline after {} machine clears, {:.1f} cycles each",
                           c_[Column::machine_clears],
                           ratio(c_[Column::clear_cycles], c_[Column::machine_clears]));
      case Cause::cache_misses:
        return cache_misses();
      case Cause::page_walks:
        return fmt::format("pass at accesses that walk the page tables: {} of {} accesses miss both TLBs{}",
                           c_[Column::load_walks] + c_[Column::store_walks],
                           c_[Column::loads] + c_[Column::stores], stride());
      case Cause::tlb_misses:
        return fmt::format("wait for the second-level TLB: {} of {} loads miss the first and {} walk{}",
                           c_[Column::dtlb_misses], c_[Column::loads], c_[Column::load_walks], stride());
      case Cause::store_forwarding:
        return fmt::format(
            "pass at loads that overlap an older store and cannot take their data from it: {} of {} loads",
            c_[Column::forward_blocks], c_[Column::loads]);
      case Cause::address_aliasing:
        return fmt::format(
            "pass at loads that wait for an older store with the same address within 4096 bytes: {} of {} "
            "loads",
            c_[Column::address_aliases], c_[Column::loads]);
      case Cause::split_accesses:
        return fmt::format("pass at accesses that lie in two cache lines: {} of {} accesses{}",
                           c_[Column::split_loads] + c_[Column::split_stores],
                           c_[Column::loads] + c_[Column::stores], stride());
      case Cause::locked:
        return fmt::format(
            "pass at its {} locked instructions, {:.1f} cycles each", c_[Column::locked],
            of_instructions([](const Instruction& i) { return i.counts[Column::locked] != 0; }));
      case Cause::division:
        return fmt::format(
            "pass at its {} divisions, {:.1f} cycles each", c_[Column::divisions],
            of_instructions([](const Instruction& i) { return i.counts[Column::divisions] != 0; }));
      case Cause::dependency_chain:
        return chain();
      case Cause::execution:
        return fmt::format(
            "wait for results of instructions before or for a port, most of them at `{}`, {:.1f} "
            "cycles each",
            printable(slowest(false).text), each(slowest(false)));
      case Cause::load_latency:
        return fmt::format("wait for loads that hit L1, {:.1f} cycles for each of {} loads{}",
                           ratio(c_[Column::load_cycles], c_[Column::loads]), c_[Column::loads], stride());
      case Cause::store_buffer:
        return fmt::format("wait for a free place in the store buffer: {} stores, {} of them miss L1{}",
                           c_[Column::stores], c_[Column::store_l1_misses], stride());
      case Cause::front_end:
        return fmt::format(
            "pass without a uop from the front end: of {} instructions {} miss L1I, {} its TLB, {} are not "
            "in the "
            "uop cache; {} targets came late",
            c_[Column::instructions], c_[Column::l1i_misses], c_[Column::itlb_misses],
            c_[Column::uop_cache_misses], c_[Column::resteers]);
      case Cause::count_:
        break;
    }
    return {};
  }

  /// The farthest level that at least half of the cycles are for.
  std::string cache_misses() const {
    const u64 all = c_[Column::l1_miss_cycles];
    const auto most = [&](Column cycles) { return 2 * c_[cycles] >= all; };
    const bool l3 = most(Column::l3_miss_cycles), l2 = most(Column::l2_miss_cycles);
    const u64 misses = c_[l3 ? Column::l3_misses : l2 ? Column::l2_misses : Column::l1_misses];
    return fmt::format("wait for loads that miss {}: {} of {} loads{}",
                       l3   ? "L3"
                       : l2 ? "L2"
                            : "L1",
                       misses, c_[Column::loads], stride());
  }

  std::string chain() const {
    const Instruction& at = slowest(true);
    return fmt::format(
        "wait for a chain of results that goes through {} instruction{} of its loop, most of them at "
        "`{}`, {:.1f} cycles each",
        at.chain.instructions, at.chain.instructions == 1 ? "" : "s", printable(at.text), each(at));
  }

  static double each(const Instruction& i) {
    return ratio(own_cycles(i.counts), i.counts[Column::instructions]);
  }

  template <class Predicate>
  double of_instructions(Predicate predicate) const {
    u64 cycles = 0, executions = 0;
    for (const u32 n : line_.instructions) {
      const Instruction& i = report_.instructions[n];
      if (!predicate(i)) continue;
      cycles += own_cycles(i.counts);
      executions += i.counts[Column::instructions];
    }
    return ratio(cycles, executions);
  }

  const Instruction& slowest(bool in_chain) const {
    const auto waits = [&](u32 n) {
      const Instruction& i = report_.instructions[n];
      const u64 slots = less(i.counts[Column::backend_slots], i.counts[Column::memory_slots]);
      return i.chain.loops == in_chain ? slots : 0;
    };
    return report_.instructions[*std::ranges::max_element(line_.instructions, {}, waits)];
  }

  /// Of the instruction with the most misses, where its accesses keep to one.
  std::string stride() const {
    const auto misses = [&](u32 n) {
      const Counts& c = report_.instructions[n].counts;
      return std::tuple(c[Column::l1_misses] + c[Column::load_walks] + c[Column::store_walks],
                        c[Column::cycles], report_.instructions[n].stride.accesses);
    };
    const auto accesses = [&](u32 n) { return report_.instructions[n].stride.accesses != 0; };
    std::vector<u32> candidates;
    std::ranges::copy_if(line_.instructions, std::back_inserter(candidates), accesses);
    if (candidates.empty()) return "";
    const Stride& found = report_.instructions[*std::ranges::max_element(candidates, {}, misses)].stride;
    if (2 * found.same < found.accesses) return "; no stride";
    const double percent = 100 * ratio(found.same, found.accesses);
    if (found.bytes == 0) return fmt::format("; at the same address as before ({:.0f} % of them)", percent);
    return fmt::format("; stride {} bytes ({:.0f} % of them)", found.bytes, percent);
  }

  const Report& report_;
  const Line& line_;
  const Counts& c_;
};

/// A loop as a sentence.
class LoopWords {
 public:
  LoopWords(const Report& report, const Loop& loop) : report_(report), loop_(loop) {}

  std::string sentence() const {
    const u64 own = loop_.counts[Column::cycles];
    std::string text = fmt::format(
        "{:.0f} % of all cycles pass in the loop of {} at {} in {}{}{}, {:.2f} instructions per cycle",
        100 * ratio(own, report_.total[Column::cycles]), blocks(), place_name(report_, loop_),
        printable(report_.functions[loop_.function].name), trips(), round(),
        ratio(loop_.counts[Column::instructions], own));
    if (loop_.cause)
      text += fmt::format("; {:.0f} % of its cycles go to {}", 100 * ratio(loop_.cause_cycles, own),
                          spoken(*loop_.cause));
    if (loop_.slowest_chain) text += chain(report_.instructions[*loop_.slowest_chain]);
    return text;
  }

 private:
  std::string blocks() const { return fmt::format("{} block{}", loop_.blocks, loop_.blocks == 1 ? "" : "s"); }
  std::string trips() const {
    const Distribution& trips = loop_.rounds.trips;
    if (trips.count() == 0) return "";
    if (trips.count() == 1) return fmt::format(": entered once for {} rounds", trips.max());
    return fmt::format(
        ": entered {} times for {} rounds at the median, {} at the 90th percentile, {} at most",
        trips.count(), trips.percentile(50), trips.percentile(90), trips.max());
  }
  std::string round() const {
    if (loop_.rounds.rounds == 0) return "";
    return fmt::format(", {:.1f} cycles a round", ratio(loop_.rounds.round_cycles, loop_.rounds.rounds));
  }
  static std::string chain(const Instruction& at) {
    return fmt::format("; its slowest chain of results goes through {} instruction{}, most cycles at `{}`",
                       at.chain.instructions, at.chain.instructions == 1 ? "" : "s", printable(at.text));
  }
  static std::string spoken(Cause cause) {
    std::string name(name_of(cause));
    std::ranges::replace(name, '_', ' ');
    return name;
  }

  const Report& report_;
  const Loop& loop_;
};

}  // namespace

std::string_view name_of(Cause cause) { return cause_names[static_cast<std::size_t>(cause)]; }

std::string place_name(const Report& report, const Line& line) {
  const std::string function = printable(report.functions[line.function].name);
  if (line.number == 0) return function;
  return fmt::format("{}:{}", printable(base_name(line.file)), line.number);
}

std::string place_name(const Report& report, const Loop& loop) {
  const std::string function = printable(report.functions[loop.function].name);
  if (loop.first_line == 0) return fmt::format("{} at {:x}", function, loop.header);
  const std::string file = printable(base_name(loop.file));
  if (loop.first_line == loop.last_line) return fmt::format("{}:{}", file, loop.first_line);
  return fmt::format("{}:{}-{}", file, loop.first_line, loop.last_line);
}

void explain(const Report& report, Loop& loop) {
  CauseCycles cycles{};
  for (const u32 n : loop.instructions) add_causes(report.instructions[n], report.width, cycles);
  const auto most = std::ranges::max_element(cycles);
  const u64 own = loop.counts[Column::cycles];
  if (*most != 0 && 10 * *most >= own) {
    loop.cause = static_cast<Cause>(most - cycles.begin());
    loop.cause_cycles = *most;
  }
  const auto held_up_by_chain = [&](u32 n) {
    const Instruction& i = report.instructions[n];
    return i.chain.loops ? less(i.counts[Column::backend_slots], i.counts[Column::memory_slots]) : 0;
  };
  const auto chain = std::ranges::max_element(loop.instructions, {}, held_up_by_chain);
  if (chain != loop.instructions.end() && 10 * held_up_by_chain(*chain) >= own * report.width && own != 0)
    loop.slowest_chain = *chain;
  loop.sentence = LoopWords(report, loop).sentence();
}

std::vector<Finding> find_causes(const Report& report) {
  const u64 total = report.total[Column::cycles];
  std::vector<Finding> findings;
  for (u32 n = 0; n < report.lines.size(); ++n) {
    const Line& line = report.lines[n];
    if (100 * line.counts[Column::cycles] < total) break;  // by cycles
    CauseCycles cycles{};
    for (const u32 each : line.instructions) add_causes(report.instructions[each], report.width, cycles);
    for (std::size_t cause = 0; cause < cycles.size(); ++cause) {
      if (10 * cycles[cause] < line.counts[Column::cycles] || 100 * cycles[cause] < total) continue;
      if (cycles[cause] == 0) continue;
      const Cause which = static_cast<Cause>(cause);
      findings.push_back({which, n, cycles[cause], LineWords(report, line).sentence(which, cycles[cause])});
    }
  }
  std::ranges::stable_sort(findings, std::greater{}, &Finding::cycles);
  return findings;
}

}  // namespace pmusim::why
