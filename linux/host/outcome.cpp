// SPDX-License-Identifier: MIT
#include "host/outcome.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include "host/recording.h"
#include "host/script.h"
#include "perf/ring_buffer.h"
#include "pmusim/session/session.h"

namespace pmusim::linux_driver {

namespace {

/// Keeps the records.
class MemorySink final : public RecordSink {
 public:
  explicit MemorySink(std::vector<std::byte>& records) : records_(records) {}
  void add_group(u32, u32) override {}
  Result<Done, Error> add_event(const perf::Attr&, const std::string&, std::span<const u64>) override {
    return Done{};
  }
  Result<Done, Error> add_mapping(const trace::Mapping&) override { return Done{}; }
  Result<Done, Error> write(std::span<const std::byte> records) override {
    records_.insert(records_.end(), records.begin(), records.end());
    return Done{};
  }
  Result<Done, Error> end_round() override { return Done{}; }
  u64 record_bytes() const override { return records_.size(); }

 private:
  std::vector<std::byte>& records_;
};

/// Whole recordings of perf's kind go the way of `record`; everything else is done by a script.
bool is_scripted(const Setup& setup) {
  return setup.scripted || !setup.samples || setup.operated || setup.whose == Setup::Whose::task;
}

Result<Done, Error> run_script(Outcome& outcome, WatchedProgram& program, const Setup& setup,
                               const RecordOptions& options) {
  const auto events = events_of_kernel();
  Script script(*events, KernelMachine::present().model(), setup, options, outcome);
  script.begin();
  if (outcome.refusal) return Done{};
  program.on_pause([&] { script.pause(KernelMachine::present().now()); });
  program.on_mapping([&](const trace::Mapping&) { script.program_began(); });
  const auto run = program.run();
  program.on_pause([] {});
  program.on_mapping([](const trace::Mapping&) {});
  if (!run.ok()) return Failure(run.error());
  script.end();
  return Done{};
}

Result<Done, Error> run_script(Outcome& outcome, Session& session, const Setup& setup,
                               const RecordOptions& options) {
  const auto events = events_of(session);
  Script script(*events, session.model(), setup, options, outcome);
  script.begin();
  if (outcome.refusal) return Done{};
  session.on_pause([&] { script.pause(session.now()); });
  session.on_mapping([&](const trace::Mapping&) { script.program_began(); });
  if (auto run = session.run(); !run.ok()) return run;
  session.on_pause({});
  session.on_mapping({});
  script.end();
  return Done{};
}

}  // namespace

void slow_down(CpuModel& model, u32 core_mhz) {
  model.core.tsc_per_core_cycle_numerator = static_cast<u32>(model.core.tsc_hz / 1'000'000);
  model.core.tsc_per_core_cycle_denominator = core_mhz;
}

// Releases are called "6.12"; a name with more behind it is one with patches.
perf::Kernel emulated_release() {
  perf::Kernel newest{};
  for (const std::string_view name : perf::kernel_names()) {
    unsigned major = 0, minor = 0;
    const char* const end = name.data() + name.size();
    const char* const dot = std::from_chars(name.data(), end, major).ptr;
    const bool plain = std::from_chars(dot + 1, end, minor).ptr == end;
    if (plain && (major << 8 | minor) <= linux_release()) newest = perf::find_kernel(name).value();
  }
  return newest;
}

Result<Outcome, Error> kernel_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                      const RecordOptions& options, const BusBetween& between) {
  Outcome outcome;
  KernelMachine machine(model);
  if (const int error = machine.boot(); error != 0) {
    outcome.refusal = std::strerror(-error);
    return outcome;
  }
  const std::unique_ptr<Bus> bus = between ? between(machine.pmu()) : nullptr;
  machine.cpu(0).set_bus(bus.get());
  auto program = WatchedProgram::open(trace, machine);
  if (!program.ok()) return Failure(program.error());
  WriteLog log(outcome.writes);
  machine.pmu().set_observer(&log);
  if (is_scripted(setup)) {
    if (auto run = run_script(outcome, *program, setup, options); !run.ok()) return Failure(run.error());
  } else {
    MemorySink sink(outcome.records);
    if (auto recorded = record_into(sink, machine, *program, options); !recorded.ok())
      outcome.refusal = recorded.error().message;
  }
  machine.pmu().set_observer(nullptr);
  for (const Trap& trap : machine.traps()) outcome.warnings.push_back(text_of(trap));
  return outcome;
}

Result<Outcome, Error> session_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                       const RecordOptions& options) {
  Outcome outcome;
  auto session = Session::open(
      trace, {.model = model, .kernel = emulated_release(), .throttling = perf::Throttling::on});
  if (!session.ok()) return Failure(session.error());
  WriteLog log(outcome.writes);
  session->pmu().set_observer(&log);
  if (is_scripted(setup)) {
    if (auto run = run_script(outcome, *session, setup, options); !run.ok()) return Failure(run.error());
  } else {
    MemorySink sink(outcome.records);
    if (auto recorded = replay_into(sink, *session, options); !recorded.ok())
      outcome.refusal = recorded.error().message;
  }
  session->pmu().set_observer(nullptr);
  return outcome;
}

}  // namespace pmusim::linux_driver
