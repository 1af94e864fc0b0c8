// SPDX-License-Identifier: MIT
// Interrupts at every place of a driver in C.
#include "pmusim/explore/explore.h"

#include <fmt/format.h>

#include <algorithm>

#include "capi/cpu.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;

/// One run as a scenario in C has it.
struct pmusim_run {
  explore::Cpu& cpu;
  std::vector<std::span<const std::byte>> state{};
};

namespace pmusim::capi {
namespace {

constexpr std::size_t most_pieces = 16;
constexpr u32 known_causes = PMUSIM_CAUSE_OVERFLOW | PMUSIM_CAUSE_SPURIOUS;

explore::Options explore_options_of(const pmusim_explore_options* given) {
  explore::Options options;
  if (given == nullptr) return options;
  if ((given->causes & ~known_causes) != 0)
    throw Misuse(fmt::format("causes is {:#x}: expected a sum of values of pmusim_cause", given->causes));
  if (given->causes != 0) options.causes.clear();
  if ((given->causes & PMUSIM_CAUSE_OVERFLOW) != 0) options.causes.push_back(explore::Cause::overflow);
  if ((given->causes & PMUSIM_CAUSE_SPURIOUS) != 0) options.causes.push_back(explore::Cause::spurious);
  if (given->most_pmis != 0) options.most_pmis = given->most_pmis;
  if (given->most_runs != 0) options.most_runs = given->most_runs;
  options.greatest_delay = given->greatest_delay;
  return options;
}

template <std::size_t size>
void copy_text(const std::string& text, char (&to)[size]) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.begin(), length, to);
  to[length] = '\0';
}

int answer(const Result<explore::Report, Error>& result, pmusim_explore_report& report) {
  if (!result.ok()) throw Misuse(result.error().message);
  report = {.runs = result->runs,
            .boundaries = result->boundaries,
            .merged = result->merged,
            .complete = result->complete ? 1u : 0u,
            .found = result->finding ? 1u : 0u};
  if (!result->finding) return PMUSIM_OK;
  copy_text(result->finding->seed, report.seed);
  copy_text(explore::text_of(*result->finding), report.text);
  return PMUSIM_OK;
}

/// The run that a processor is in, for as long as the scenario runs.
class RunOn {
 public:
  RunOn(pmusim_cpu& cpu, explore::Cpu& run) : cpu_(cpu) { cpu_.set_run(&run); }
  ~RunOn() { cpu_.set_run(nullptr); }
  RunOn(const RunOn&) = delete;
  RunOn& operator=(const RunOn&) = delete;

 private:
  pmusim_cpu& cpu_;
};

/// A scenario of C on its processor, which is what it was before each run, and after.
class Scenario {
 public:
  Scenario(pmusim_cpu* cpu, pmusim_scenario function, void* context)
      : cpu_(changeable(cpu)),
        function_(&require(function, "scenario")),
        context_(context),
        start_(cpu_.snapshot()) {
    if (cpu_.in_callback()) throw Misuse("called from a callback of the processor");
  }
  ~Scenario() { cpu_.restore(start_); }
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  void operator()(explore::Cpu& run) const {
    cpu_.restore(start_);
    const RunOn running(cpu_, run);
    pmusim_run c_run{run};
    function_(&cpu_, &c_run, context_);
  }
  Pmu& pmu() const { return cpu_.pmu(); }

 private:
  pmusim_cpu& cpu_;
  pmusim_scenario function_;
  void* context_;
  pmusim_snapshot start_;
};

}  // namespace
}  // namespace pmusim::capi

int pmusim_explore(pmusim_cpu* cpu, pmusim_scenario scenario, void* context,
                   const pmusim_explore_options* options, pmusim_explore_report* report) {
  return guarded("pmusim_explore", [&] {
    pmusim_explore_report& out = require(report, "report");
    const explore::Options wanted = capi::explore_options_of(options);
    const capi::Scenario run(cpu, scenario, context);
    return capi::answer(explore::explore_on(run.pmu(), std::cref(run), wanted), out);
  });
}

int pmusim_explore_replay(pmusim_cpu* cpu, pmusim_scenario scenario, void* context, const char* seed,
                          pmusim_explore_report* report) {
  return guarded("pmusim_explore_replay", [&] {
    pmusim_explore_report& out = require(report, "report");
    const std::string_view placement = &require(seed, "seed");
    const capi::Scenario run(cpu, scenario, context);
    return capi::answer(explore::replay_on(run.pmu(), std::cref(run), placement), out);
  });
}

int pmusim_explore_open(pmusim_run* run) {
  return guarded("pmusim_explore_open", [&] {
    require(run, "run").cpu.open();
    return PMUSIM_OK;
  });
}

int pmusim_explore_close(pmusim_run* run) {
  return guarded("pmusim_explore_close", [&] {
    require(run, "run").cpu.close();
    return PMUSIM_OK;
  });
}

int pmusim_explore_boundary(pmusim_run* run) {
  return guarded("pmusim_explore_boundary", [&] {
    require(run, "run").cpu.boundary();
    return PMUSIM_OK;
  });
}

int pmusim_explore_fail(pmusim_run* run, const char* sentence) {
  return guarded("pmusim_explore_fail", [&] {
    const std::string_view what = &require(sentence, "sentence");
    require(run, "run").cpu.fail(what);
    return PMUSIM_OK;
  });
}

int pmusim_explore_state(pmusim_run* run, const void* memory, size_t bytes) {
  return guarded("pmusim_explore_state", [&] {
    const auto* const begin = &require(static_cast<const std::byte*>(memory), "memory");
    pmusim_run& target = require(run, "run");
    if (target.state.size() == capi::most_pieces)
      throw Misuse(fmt::format("expected at most {} pieces of memory", capi::most_pieces));
    target.state.emplace_back(begin, bytes);
    target.cpu.set_driver_state([&target](StateHash& hash) {
      for (const std::span<const std::byte> piece : target.state) hash.add_bytes(piece);
    });
    return PMUSIM_OK;
  });
}
