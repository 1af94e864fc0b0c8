// SPDX-License-Identifier: MIT
#include "pmusim/explore/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace pmusim::explore {

namespace {

using Notes = Cpu::Plan::Notes;

/// Placements from few PMIs to many. Each run that can still have another PMI notes its boundaries after the
/// last; those become the next placements, but where a run with as many PMIs to come has been in that state.
class Search {
 public:
  Search(Pmu& pmu, const Scenario& scenario, const Options& options)
      : pmu_(pmu), start_(pmu), scenario_(scenario), options_(options) {}
  ~Search() { pmu_ = start_; }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  Result<Report, Error> run() {
    nodes_.push_back({});
    if (!repeats_itself())
      return Failure(Error("the scenario does not repeat itself: two runs without a PMI differ"));
    for (u32 n = 0; n < nodes_.size() && !report_.finding; ++n) {
      if (report_.runs >= options_.most_runs) {
        report_.complete = false;
        break;
      }
      if (!try_placement(n)) return Failure(unrepeatable(n));
    }
    return std::move(report_);
  }

 private:
  /// A placement: that of the parent and one PMI more. The first is the empty one.
  struct Node {
    u32 parent = 0;
    u32 pmis = 0;
    PlacedPmi last{};
  };

  Placement placement_of(u32 n) const {
    Placement placement;
    for (; n != 0; n = nodes_[n].parent) placement.push_back(nodes_[n].last);
    std::ranges::reverse(placement);
    return placement;
  }

  Cpu run_with(const Placement& placement, Notes notes) {
    pmu_ = start_;
    Cpu cpu(pmu_, {.pmis = placement, .notes = notes, .causes = options_.causes});
    scenario_(cpu);
    return cpu;
  }

  bool repeats_itself() {
    const Cpu first = run_with({}, Notes::none), second = run_with({}, Notes::none);
    report_.boundaries = first.boundaries();
    return first.history() == second.history() && first.boundaries() == second.boundaries() &&
           first.failure() == second.failure();
  }

  bool try_placement(u32 n) {
    const Placement placement = placement_of(n);
    const u32 more = options_.most_pmis - nodes_[n].pmis;
    const Cpu cpu = run_with(placement, more != 0 ? Notes::states : Notes::none);
    ++report_.runs;
    if (cpu.placed() != placement.size()) return false;
    if (cpu.failed()) return describe(placement, cpu.failure());
    if (more != 0) branch_off(n, cpu, more);
    return true;
  }

  bool describe(const Placement& placement, const std::string& what) {
    const Cpu cpu = run_with(placement, Notes::operations);
    report_.finding = Finding{what, seed_of(placement), cpu.where()};
    return cpu.failure() == what;
  }

  void branch_off(u32 n, const Cpu& cpu, u32 more) {
    const auto first = cpu.boundaries() - static_cast<u32>(cpu.reached().size());
    for (u32 i = 0; i < cpu.reached().size(); ++i) {
      const Cpu::Reached& reached = cpu.reached()[i];
      if (been_there(reached, more))
        ++report_.merged;
      else
        for (const Cause cause : options_.causes)
          if ((reached.possible >> static_cast<unsigned>(cause) & 1) != 0) add_children(n, cause, first + i);
    }
  }

  void add_children(u32 n, Cause cause, u32 boundary) {
    for (u32 delay = 0; delay <= options_.greatest_delay && nodes_.size() <= options_.most_runs; ++delay)
      nodes_.push_back({.parent = n, .pmis = nodes_[n].pmis + 1, .last = {cause, boundary, delay}});
  }

  bool been_there(const Cpu::Reached& reached, u32 more) {
    if (!reached.known) return false;
    u32& before = most_to_come_[reached.state];
    if (before >= more) return true;
    before = more;
    return false;
  }

  Error unrepeatable(u32 n) const {
    return Error(fmt::format("the scenario does not repeat itself: seed '{}' cannot be run again",
                             seed_of(placement_of(n))));
  }

  Pmu& pmu_;
  const Pmu start_;
  const Scenario& scenario_;
  const Options& options_;
  Report report_;
  std::vector<Node> nodes_;                    // in the order in which they run
  std::unordered_map<u64, u32> most_to_come_;  // by state: PMIs that have been placed from there on
};

}  // namespace

Result<Report, Error> explore_on(Pmu& pmu, const Scenario& scenario, const Options& options) {
  return Search(pmu, scenario, options).run();
}

Result<Report, Error> explore(const Pmu& start, const Scenario& scenario, const Options& options) {
  Pmu pmu = start;
  return explore_on(pmu, scenario, options);
}

Result<Report, Error> replay_on(Pmu& pmu, const Scenario& scenario, std::string_view seed) {
  const auto placement = parse_seed(seed);
  if (!placement.ok()) return Failure(placement.error());
  const Pmu start = pmu;
  Cpu cpu(pmu, {.pmis = *placement, .notes = Notes::operations});
  scenario(cpu);
  pmu = start;
  if (cpu.placed() != placement->size())
    return Failure(Error(fmt::format("seed '{}': the scenario does not reach boundary {}", seed,
                                     (*placement)[cpu.placed()].boundary)));
  Report report{.runs = 1, .boundaries = cpu.boundaries()};
  if (cpu.failed()) report.finding = Finding{cpu.failure(), seed_of(*placement), cpu.where()};
  return report;
}

Result<Report, Error> replay(const Pmu& start, const Scenario& scenario, std::string_view seed) {
  Pmu pmu = start;
  return replay_on(pmu, scenario, seed);
}

}  // namespace pmusim::explore
