// SPDX-License-Identifier: MIT
// What a model lists and does not refuse is counted on a program of examples/workloads: nothing silently
// counts 0.
#include <cpuid.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <sstream>

#include "core/core.h"
#include "events/listing.h"
#include "events/resolve.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/trace.h"
#include "tests/support/workload_recording.h"

namespace pmusim {
namespace {

/// An event that the model lists and does not refuse.
struct Listed {
  std::string name;
  events::ResolvedEvent event;
};

std::vector<Listed> counted_events(const CpuModel& model) {
  std::vector<Listed> events;
  for (const events::ListedEvent& listed : events::list_events(model, events::Listed::all)) {
    if (!listed.counts.empty() || !listed.refusal.empty()) continue;
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = listed.config;
    attr.config1 = listed.extra;
    const auto event = events::identify(model, attr);
    if (event.ok())
      events.push_back({listed.name, *event});
    else
      ADD_FAILURE() << model.name << ": " << event.error().message;
  }
  return events;
}

bool compares_cycles(const events::ResolvedEvent& event) {
  return (event.config & (msr::evtsel::CMASK | msr::evtsel::INV | msr::evtsel::EDGE)) != 0;
}

/// Counts events on the model's own counters, on as many units as they need.
class Counters {
 public:
  Counters(const CpuModel& model, const std::vector<Listed>& events)
      : per_unit_(static_cast<unsigned>(std::countr_one(model.gp_counters))) {
    for (std::size_t n = 0; n < events.size(); ++n) {
      if (n % per_unit_ == 0) units_.emplace_back(model);
      Pmu& unit = units_.back();
      const auto counter = static_cast<u32>(n % per_unit_);
      const u64 select = events[n].event.config | msr::evtsel::EN | msr::evtsel::USR;
      EXPECT_EQ(unit.wrmsr(msr::PERFEVTSEL0 + counter, select), Fault::none) << model.name << events[n].name;
      if (model.perfmon_version >= 2) {
        EXPECT_EQ(unit.wrmsr(msr::PERF_GLOBAL_CTRL, bits(counter, 0)), Fault::none) << model.name;
      }
    }
  }
  void retire(const Retirement& r) {
    for (Pmu& unit : units_) unit.retire(r);
  }
  u64 count(std::size_t event) {
    const auto counter = static_cast<u32>(event % per_unit_);
    return units_[event / per_unit_].rdmsr(msr::PMC0 + counter).value();
  }

 private:
  std::size_t per_unit_;
  std::vector<Pmu> units_;
};

/// What instructions totals, summed up.
class Totals {
 public:
  void add(const Retirement& r) {
    for (std::size_t q = 0; q < totals_.size(); ++q) totals_[q] += r.quantities[q];
    if (r.signals == last_) return;
    last_ = r.signals;
    if (std::ranges::find(signals_, r.signals) == signals_.end()) signals_.push_back(r.signals);
  }
  u64 total(Quantity which) const { return totals_[static_cast<unsigned>(which)]; }
  bool counts(const EventRule& rule) const {
    if (rule.quantity == Quantity::none)
      return std::ranges::any_of(signals_, [&](const SignalSet& seen) { return rule.matches(seen); });
    return total(rule.quantity) != 0 ||
           std::ranges::any_of(rule.plus, [&](Quantity which) { return total(which) != 0; });
  }

 private:
  std::array<u64, static_cast<unsigned>(Quantity::count_)> totals_{};
  std::vector<SignalSet> signals_;
  SignalSet last_;
};

/// An event that no workload lets happen, and why.
struct Exception {
  std::string model, event, feature, reason;
  bool used = false;

  static bool fits(const std::string& pattern, const std::string& name) {
    const bool open = pattern.ends_with('*');
    return open ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  }
  bool names(const std::string& of_model, const std::string& of_event) const {
    return fits(model, of_model) && fits(event, of_event);
  }
};

/// Whether this machine executes what the workload needs to let the event happen.
bool host_has(const std::string& feature) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (!avx512 || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if (feature == "avx512_vnni") return (ecx & bit(11)) != 0;
  if (feature == "avx512_fp16") return (edx & bit(23)) != 0;
  return feature == "avx512";
}

std::vector<Exception> exceptions() {
  std::ifstream file(PMUSIM_SOURCE_DIR "/tests/session/events_that_no_workload_has.txt");
  EXPECT_TRUE(file.good());
  std::vector<Exception> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    Exception entry;
    words >> entry.model >> entry.event >> entry.feature >> std::ws;
    std::getline(words, entry.reason);
    EXPECT_FALSE(entry.reason.empty()) << line;
    all.push_back(entry);
  }
  return all;
}

void expect_slots_add_up(const CpuModel& model, const Core& core, const Totals& totals) {
  const u64 slots = totals.total(Quantity::slots);
  EXPECT_EQ(slots, core.cycle() * model.core.issue_width) << model.name;
  EXPECT_EQ(slots, totals.total(Quantity::uops) + totals.total(Quantity::slots_bad_speculation) +
                       totals.total(Quantity::slots_frontend) + totals.total(Quantity::slots_backend) +
                       core.open_slots())
      << model.name;
}

TEST(EveryListedEvent, CountsOnAWorkloadOrIsRefusedOrHasItsReason) {
  const WorkloadRecording recording({"events"});
  std::vector<Exception> excepted = exceptions();
  std::map<std::string, std::vector<std::string>> silent;  // models by event
  for (const CpuModel& model : cpu_models()) {
    std::vector<Listed> plain, comparing;
    for (Listed& event : counted_events(model))
      (compares_cycles(event.event) ? comparing : plain).push_back(std::move(event));
    Counters counters(model, comparing);
    Totals totals;
    trace::Reader reader = trace::Reader::open(recording.path()).value();
    Core core = Core::create(model).value();
    while (auto item = reader.next().value())
      if (const auto* run = std::get_if<trace::BlockRun>(&*item))
        core.run(*run, [&](const Retirement& r) {
          totals.add(r);
          counters.retire(r);
        });
    expect_slots_add_up(model, core, totals);
    const auto judge = [&](const std::string& name, bool counts) {
      const auto entry =
          std::ranges::find_if(excepted, [&](const Exception& e) { return e.names(model.name, name); });
      if (entry == excepted.end()) {
        if (!counts) silent[name].emplace_back(model.name);
        return;
      }
      entry->used = true;
      if (counts && entry->feature == "-")
        ADD_FAILURE() << model.name << " " << name << " counts: no exception";
      if (!counts && entry->feature != "-" && host_has(entry->feature)) silent[name].emplace_back(model.name);
    };
    for (const Listed& event : plain) judge(event.name, totals.counts(event.event.definition.rule));
    for (std::size_t n = 0; n < comparing.size(); ++n) judge(comparing[n].name, counters.count(n) != 0);
  }
  for (const auto& [event, models] : silent)
    ADD_FAILURE() << event << " counts 0 on " << fmt::format("{}", fmt::join(models, " "));
  for (const Exception& entry : excepted)
    EXPECT_TRUE(entry.used) << entry.model << " " << entry.event << " is no event that a model counts";
}

}  // namespace
}  // namespace pmusim
