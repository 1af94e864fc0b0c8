// SPDX-License-Identifier: MIT
#include "annotate/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "code_counts.h"
#include "report_builder.h"

namespace pmusim::annotate {

class Profile::State {
 public:
  explicit State(Options options) : options_(std::move(options)) {}

  bool add(const Sample& sample);
  Report report();

  symbols::AddressSpaces spaces_;
  std::vector<SampledEvent> events_;
  std::vector<std::string> branch_counters_, notes_;

 private:
  bool is_chosen(const CodeSpace& space, u64 address);
  void add_branches(SpaceCounts& counts, const Sample& sample, const SampledEvent& event);
  void add_stack(SpaceCounts& counts, const Sample& sample, const SampledEvent& event);
  void take_lbr_call_stack(const Sample& sample);
  void take_callchain(const Sample& sample);
  void compare_branches(symbols::AddressSpaces::Id space, const Sample& sample, bool is_sample_chosen);
  std::string note_on_choice() const;

  struct Choice {
    u64 space_and_mode = 0, address = 0;
    std::optional<bool> chosen = std::nullopt;
    std::pair<u64, u64> key() const { return {space_and_mode, address}; }
  };

  Options options_;
  std::map<CodeSpace, SpaceCounts> counts_;
  std::vector<Event> totals_;
  Totals sums_;
  StackSource stack_source_ = StackSource::none;
  PairTable<Choice> choices_;
  std::optional<Resolver> chooser_;
  std::vector<Frame> frames_;  // innermost first
  u64 branches_in_chosen_ = 0, branches_left_out_ = 0;
};

/// Whether an address is in one of the functions asked for.
bool Profile::State::is_chosen(const CodeSpace& space, u64 address) {
  if (options_.symbols.empty()) return true;
  if (!chooser_) chooser_.emplace(spaces_, options_);
  const u64 space_and_mode = u64{space.id} << 8 | static_cast<u64>(space.mode);
  std::optional<bool>& chosen = choices_(space_and_mode, address).chosen;
  if (!chosen) {
    const auto& symbol = chooser_->symbols()[chooser_->symbol_at(chooser_->locate(space, address))];
    chosen = std::ranges::any_of(options_.symbols, [&](const std::string& wanted) {
      return has_name(symbol.name, symbol.linkage_name, wanted);
    });
  }
  return *chosen;
}

/// Branches of the functions asked for, in the stacks of samples that count and of those that do not.
void Profile::State::compare_branches(symbols::AddressSpaces::Id space, const Sample& sample,
                                      bool is_sample_chosen) {
  if (options_.symbols.empty() || events_[sample.event].branches != BranchUse::every_branch) return;
  for (const perf::BranchEntry& entry : sample.branches) {
    if (!is_chosen({space, perf::CpuMode::unknown}, entry.from)) continue;
    ++branches_in_chosen_;
    if (!is_sample_chosen) ++branches_left_out_;
  }
}

/// Empty where what is left out can hardly be seen in a percentage.
std::string Profile::State::note_on_choice() const {
  if (branches_left_out_ * 100 <= branches_in_chosen_) return {};
  return fmt::format(
      "rates are those of samples in the functions asked for; {} of {} branches recorded there are in other "
      "samples and left out: ways that lead out of a function for long look rarer than they are; 'annotate' "
      "without a name counts all",
      branches_left_out_, branches_in_chosen_);
}

bool Profile::State::add(const Sample& sample) {
  const auto space = spaces_.find(sample.pid, sample.time).value_or(no_space);
  const bool is_sample_chosen = is_chosen({space, sample.mode}, sample.ip);
  compare_branches(space, sample, is_sample_chosen);
  if (!is_sample_chosen) return false;
  SpaceCounts& counts = counts_[{space, sample.mode}];
  HitCount& hit = counts.hits(sample.ip, sample.event);
  ++hit.samples;
  hit.period += sample.period;
  totals_.resize(events_.size());
  ++totals_[sample.event].total.samples;
  totals_[sample.event].total.period += sample.period;
  ++sums_.samples;
  add_branches(counts, sample, events_[sample.event]);
  add_stack(counts, sample, events_[sample.event]);
  return true;
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

void Profile::State::take_lbr_call_stack(const Sample& sample) {
  for (const perf::BranchEntry& call : sample.branches) frames_.push_back({.address = call.from});
}

/// Behind the frame of the sample itself, which the chain repeats in front: as the interrupt found it, not
/// where the event was. Callers are known by their return addresses, which may be the first byte of something
/// else.
void Profile::State::take_callchain(const Sample& sample) {
  perf::CpuMode mode = sample.mode;
  bool is_first = true;
  for (const u64 address : sample.callchain) {
    if (address >= perf::first_context_mark) {
      mode = perf::marked_mode(address).value_or(mode);
      continue;
    }
    const bool is_sample =
        std::exchange(is_first, false) && (sample.mode == perf::CpuMode::unknown || mode == sample.mode);
    if (address != 0 && !is_sample) frames_.push_back({address - 1, mode});
  }
}

/// A sample without a stack is one of the function itself, as others count what it called.
void Profile::State::add_stack(SpaceCounts& counts, const Sample& sample, const SampledEvent& event) {
  frames_.assign(1, {sample.ip, sample.mode});
  const bool from_lbr = event.branches == BranchUse::call_stack && !sample.branches.empty();
  if (from_lbr)
    take_lbr_call_stack(sample);
  else
    take_callchain(sample);
  const bool has_stack = from_lbr || !sample.callchain.empty();
  if (has_stack && stack_source_ != StackSource::lbr_call_stack)
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
  if (std::string note = note_on_choice(); !note.empty()) report.notes.push_back(std::move(note));
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

bool Profile::add(const Sample& sample) { return state_->add(sample); }
void Profile::add_note(std::string sentence) { state_->notes_.push_back(std::move(sentence)); }
Report Profile::report() { return state_->report(); }

}  // namespace pmusim::annotate
