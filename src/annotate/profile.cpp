// SPDX-License-Identifier: MIT
#include "annotate/profile.h"

#include <algorithm>

#include "code_counts.h"
#include "report_builder.h"

namespace pmusim::annotate {

namespace {

/// Values of a call chain from here up are marks (PERF_CONTEXT_*), not addresses.
constexpr u64 first_context_mark = ~u64{0} - 4094;

}  // namespace

class Profile::State {
 public:
  explicit State(Options options) : options_(std::move(options)) {}

  void add(const Sample& sample);
  Report report();

  symbols::AddressSpaces spaces_;
  std::vector<SampledEvent> events_;
  std::vector<std::string> branch_counters_, notes_;

 private:
  bool is_chosen(symbols::AddressSpaces::Id space, u64 ip);
  void add_branches(SpaceCounts& counts, const Sample& sample, const SampledEvent& event);
  void add_stack(SpaceCounts& counts, const Sample& sample, const SampledEvent& event);
  void take_callchain(std::span<const u64> innermost_first);

  struct Choice {
    u64 space = 0, ip = 0;
    std::optional<bool> chosen = std::nullopt;
    std::pair<u64, u64> key() const { return {space, ip}; }
  };

  Options options_;
  std::map<symbols::AddressSpaces::Id, SpaceCounts> counts_;
  std::vector<Event> totals_;
  Totals sums_;
  StackSource stack_source_ = StackSource::none;
  PairTable<Choice> choices_;
  std::optional<Resolver> chooser_;
  std::vector<u64> frames_;
};

/// Whether a sample is in one of the functions asked for.
bool Profile::State::is_chosen(symbols::AddressSpaces::Id space, u64 ip) {
  if (options_.symbols.empty()) return true;
  if (!chooser_) chooser_.emplace(spaces_, options_);
  std::optional<bool>& chosen = choices_(space, ip).chosen;
  if (!chosen) {
    const auto& symbol = chooser_->symbols()[chooser_->symbol_at(chooser_->locate(space, ip))];
    chosen = std::ranges::any_of(options_.symbols, [&](const std::string& wanted) {
      return has_name(symbol.name, symbol.linkage_name, wanted);
    });
  }
  return *chosen;
}

void Profile::State::add(const Sample& sample) {
  const auto space = spaces_.find(sample.pid, sample.time).value_or(no_space);
  if (!is_chosen(space, sample.ip)) return;
  SpaceCounts& counts = counts_[space];
  HitCount& hit = counts.hits(sample.ip, sample.event);
  ++hit.samples;
  hit.period += sample.period;
  totals_.resize(events_.size());
  ++totals_[sample.event].total.samples;
  totals_[sample.event].total.period += sample.period;
  ++sums_.samples;
  add_branches(counts, sample, events_[sample.event]);
  add_stack(counts, sample, events_[sample.event]);
}

void Profile::State::add_branches(SpaceCounts& counts, const Sample& sample, const SampledEvent& event) {
  if (sample.branches.empty() || event.branches == BranchUse::none || event.branches == BranchUse::call_stack)
    return;
  ++sums_.branch_stacks;
  sums_.branch_entries += sample.branches.size();
  counts.branches.add_branches(sample.branches);
  if (event.branches == BranchUse::every_branch)
    counts.branches.add_lines(sample.branches, sample.branch_counters, event.counters);
}

/// Callers are known by their return addresses, which may be the first byte of something else.
void Profile::State::take_callchain(std::span<const u64> innermost_first) {
  for (const u64 address : innermost_first) {
    if (address >= first_context_mark || address == 0) continue;
    frames_.push_back(frames_.empty() ? address : address - 1);
  }
}

void Profile::State::add_stack(SpaceCounts& counts, const Sample& sample, const SampledEvent& event) {
  frames_.clear();
  const bool from_lbr = event.branches == BranchUse::call_stack && !sample.branches.empty();
  if (from_lbr) {
    frames_.push_back(sample.ip);
    for (const perf::BranchEntry& call : sample.branches) frames_.push_back(call.from);
  } else {
    take_callchain(sample.callchain);
  }
  if (frames_.empty()) return;
  if (stack_source_ != StackSource::lbr_call_stack)
    stack_source_ = from_lbr ? StackSource::lbr_call_stack : StackSource::callchain;
  std::ranges::reverse(frames_);
  counts.stacks.add(frames_, sample.event, {1, sample.period});
}

Report Profile::State::report() {
  totals_.resize(events_.size());
  for (std::size_t i = 0; i < events_.size(); ++i) totals_[i].name = events_[i].name;
  Report report;
  report.events = totals_;
  report.totals = sums_;
  report.notes = notes_;
  report.branch_counters = branch_counters_;
  report.stack_source = stack_source_;
  if (!spaces_.is_exact())
    report.notes.emplace_back(
        "mappings changed so often that some samples may be shown in code that was mapped later");
  Resolver resolver(spaces_, options_);
  build_report(report, counts_, resolver, options_);
  return report;
}

Profile::Profile(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(Profile&&) noexcept = default;
Profile::~Profile() = default;

symbols::AddressSpaces& Profile::address_spaces() { return state_->spaces_; }

u32 Profile::add_event(SampledEvent event) {
  state_->events_.push_back(std::move(event));
  return static_cast<u32>(state_->events_.size() - 1);
}

void Profile::set_branch_counters(std::vector<std::string> names) {
  state_->branch_counters_ = std::move(names);
}

void Profile::add(const Sample& sample) { state_->add(sample); }
void Profile::add_note(std::string sentence) { state_->notes_.push_back(std::move(sentence)); }
Report Profile::report() { return state_->report(); }

}  // namespace pmusim::annotate
