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
#include "session/monitor.h"

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
bool is_scripted(const Target& target, const Setup& setup) {
  if (target.machine) return true;
  return setup.scripted || !setup.samples || setup.operated || setup.whose != Setup::Whose::cpu;
}

Result<Done, Error> run_script(Outcome& outcome, WatchedProgram& program, const Target& target,
                               const Setup& setup, const std::vector<RecordOptions>& options) {
  const auto events = events_of_kernel();
  Script script(*events, target, setup, options, outcome);
  script.begin();
  if (outcome.refusal) return Done{};
  program.on_pause([&] { script.pause(KernelMachine::present().now()); });
  program.on_mapping([&](const trace::Mapping&) { script.program_began(program.first_thread()); });
  const auto run = program.run();
  program.on_pause([] {});
  program.on_mapping([](const trace::Mapping&) {});
  if (!run.ok()) return Failure(run.error());
  script.end();
  return Done{};
}

Result<Done, Error> run_script(Outcome& outcome, Session& session, const Target& target, const Setup& setup,
                               const std::vector<RecordOptions>& options) {
  const auto events = events_of(session);
  Script script(*events, target, setup, options, outcome);
  script.begin();
  if (outcome.refusal) return Done{};
  session.on_pause([&] { script.pause(session.now()); });
  session.on_mapping([&](const trace::Mapping&) { script.program_began(session.first_thread()); });
  if (auto run = session.run(); !run.ok()) return run;
  session.on_pause({});
  session.on_mapping({});
  script.end();
  return Done{};
}

/// What is written to the registers of all CPUs, for as long as this lives.
class WriteLogs {
 public:
  WriteLogs(u32 cpus, const std::function<Pmu&(u32)>& pmu_of) {
    for (u32 cpu = 0; cpu < cpus; ++cpu) {
      pmus_.push_back(&pmu_of(cpu));
      logs_.push_back(std::make_unique<WriteLog>(cpu));
      pmus_.back()->set_observer(logs_.back().get());
    }
  }
  ~WriteLogs() {
    for (Pmu* const pmu : pmus_) pmu->set_observer(nullptr);
  }
  WriteLogs(const WriteLogs&) = delete;
  WriteLogs& operator=(const WriteLogs&) = delete;

  std::vector<Write> take() const {
    std::vector<Write> all;
    for (const auto& log : logs_) all.insert(all.end(), log->writes.begin(), log->writes.end());
    return all;
  }

 private:
  std::vector<Pmu*> pmus_;
  std::vector<std::unique_ptr<WriteLog>> logs_;
};

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

Result<std::vector<RecordOptions>, Error> options_of(const Setup& setup, const Target& target) {
  std::vector<RecordOptions> all;
  for (const CpuModel& type : target.machine ? target.machine->types : std::vector{target.model}) {
    auto options = options_of(setup, type);
    if (!options.ok()) return Failure(options.error());
    all.push_back(std::move(options).value());
  }
  return all;
}

Result<Outcome, Error> kernel_outcome(const std::string& trace, const Target& target, const Setup& setup,
                                      const std::vector<RecordOptions>& options, const BusBetween& between) {
  Outcome outcome;
  const auto made = target.machine ? std::make_unique<KernelMachine>(*target.machine)
                                   : std::make_unique<KernelMachine>(target.model);
  KernelMachine& machine = *made;
  if (const int error = machine.boot(); error != 0) {
    outcome.refusal = std::strerror(-error);
    return outcome;
  }
  const std::unique_ptr<Bus> bus = between ? between(machine.pmu()) : nullptr;
  machine.cpu(0).set_bus(bus.get());
  auto program = WatchedProgram::open(
      trace, machine, target.machine ? std::optional(target.schedule) : std::optional<Schedule>());
  if (!program.ok()) return Failure(program.error());
  WriteLogs logs(machine.cpus(), [&](u32 cpu) -> Pmu& { return machine.cpu(cpu).pmu(); });
  if (is_scripted(target, setup)) {
    if (auto run = run_script(outcome, *program, target, setup, options); !run.ok())
      return Failure(run.error());
  } else {
    MemorySink sink(outcome.records);
    if (auto recorded = record_into(sink, machine, *program, options.front()); !recorded.ok())
      outcome.refusal = recorded.error().message;
  }
  outcome.writes = logs.take();
  for (const Trap& trap : machine.traps()) outcome.warnings.push_back(text_of(trap));
  return outcome;
}

Result<Outcome, Error> session_outcome(const std::string& trace, const Target& target, const Setup& setup,
                                       const std::vector<RecordOptions>& options) {
  Outcome outcome;
  auto session = Session::open(trace, {.model = target.model,
                                       .machine = target.machine,
                                       .schedule = target.schedule,
                                       .kernel = emulated_release(),
                                       .throttling = perf::Throttling::on});
  if (!session.ok()) return Failure(session.error());
  WriteLogs logs(session->monitor().cpus(),
                 [&](u32 cpu) -> Pmu& { return session->monitor().cpu(cpu).pmu(); });
  if (is_scripted(target, setup)) {
    if (auto run = run_script(outcome, *session, target, setup, options); !run.ok())
      return Failure(run.error());
  } else {
    MemorySink sink(outcome.records);
    if (auto recorded = replay_into(sink, *session, options.front()); !recorded.ok())
      outcome.refusal = recorded.error().message;
  }
  outcome.writes = logs.take();
  return outcome;
}

}  // namespace pmusim::linux_driver
