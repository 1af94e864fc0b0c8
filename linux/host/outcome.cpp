// SPDX-License-Identifier: MIT
#include "host/outcome.h"

#include <cstring>

#include "host/recording.h"
#include "perf/ring_buffer.h"
#include "pmusim/pmu/observer.h"
#include "pmusim/session/session.h"

namespace pmusim::linux_driver {

namespace {

class WriteLog final : public Observer {
 public:
  explicit WriteLog(std::vector<Write>& writes) : writes_(writes) {}
  void on_register_write(const observed::RegisterWrite& write) override {
    writes_.push_back({.address = write.address, .value = write.value, .cycle = write.cycle});
  }

 private:
  std::vector<Write>& writes_;
};

/// Keeps the records.
class MemorySink final : public RecordSink {
 public:
  explicit MemorySink(std::vector<std::byte>& records) : records_(records) {}
  void add_group(u32, u32) override {}
  Result<Done, Error> add_event(const perf::Attr&, const std::string&, u64) override { return Done{}; }
  void add_mapping(const trace::Mapping&) override {}
  Result<Done, Error> write(std::span<const std::byte> records) override {
    records_.insert(records_.end(), records.begin(), records.end());
    return Done{};
  }
  Result<Done, Error> end_round() override { return Done{}; }
  u64 record_bytes() const override { return records_.size(); }

 private:
  std::vector<std::byte>& records_;
};

/// As perf does: a group begins to count when it is complete.
perf::Attr counting_attr(const events::ParsedEvent& event, const events::EventGroup& group) {
  perf::Attr attr = event.attr;
  attr.disabled = group.events.size() > 1 && &event == &group.events.front() ? 1 : 0;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}

Result<Done, Error> count(Outcome& outcome, WatchedProgram& program, const RecordOptions& options) {
  std::vector<KernelEvent> opened;
  for (const events::EventGroup& group : options.events) {
    int leader = -1;
    for (const events::ParsedEvent& event : group.events) {
      auto made = KernelEvent::open(counting_attr(event, group), leader);
      if (!made.ok()) {
        outcome.refusal = made.error().message;
        return Done{};
      }
      if (leader < 0) leader = made->descriptor();
      opened.push_back(std::move(made).value());
    }
    if (group.events.size() > 1) opened[opened.size() - group.events.size()].enable();
  }
  if (const auto run = program.run(); !run.ok()) return Failure(run.error());
  for (const KernelEvent& event : opened) event.disable();
  for (const KernelEvent& event : opened) outcome.counts.push_back(event.read().value_or(KernelCount{}));
  return Done{};
}

Result<Done, Error> count(Outcome& outcome, Session& session, const RecordOptions& options) {
  std::vector<perf::Event*> opened;
  for (const events::EventGroup& group : options.events) {
    perf::Event* leader = nullptr;
    for (const events::ParsedEvent& event : group.events) {
      auto made = session.open_event(counting_attr(event, group), leader);
      if (!made.ok()) {
        outcome.refusal = made.error().message;
        return Done{};
      }
      if (leader == nullptr) leader = *made;
      opened.push_back(*made);
    }
    if (group.events.size() > 1) session.perf().enable(*leader);
  }
  if (auto run = session.run(); !run.ok()) return Failure(run.error());
  for (perf::Event* const event : opened) {
    const auto words = session.perf().read(*event);
    outcome.counts.push_back(words.ok() && words->size() == 3
                                 ? KernelCount{(*words)[0], (*words)[1], (*words)[2]}
                                 : KernelCount{});
  }
  return Done{};
}

}  // namespace

Result<Outcome, Error> kernel_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                      const RecordOptions& options) {
  Outcome outcome;
  Machine machine(model);
  if (const int error = machine.boot(); error != 0) {
    outcome.refusal = std::strerror(-error);
    return outcome;
  }
  auto program = WatchedProgram::open(trace, machine);
  if (!program.ok()) return Failure(program.error());
  WriteLog log(outcome.writes);
  machine.pmu().set_observer(&log);
  if (setup.samples) {
    MemorySink sink(outcome.records);
    if (auto recorded = record_into(sink, machine, *program, options); !recorded.ok())
      outcome.refusal = recorded.error().message;
  } else if (auto counted = count(outcome, *program, options); !counted.ok()) {
    return Failure(counted.error());
  }
  machine.pmu().set_observer(nullptr);
  for (const Trap& trap : machine.traps()) outcome.warnings.push_back(text_of(trap));
  return outcome;
}

Result<Outcome, Error> session_outcome(const std::string& trace, const CpuModel& model, const Setup& setup,
                                       const RecordOptions& options) {
  Outcome outcome;
  auto session = Session::open(
      trace, {.model = model, .kernel = perf::Kernel::v6_12, .throttling = perf::Throttling::on});
  if (!session.ok()) return Failure(session.error());
  WriteLog log(outcome.writes);
  session->pmu().set_observer(&log);
  if (setup.samples) {
    MemorySink sink(outcome.records);
    if (auto recorded = replay_into(sink, *session, options); !recorded.ok())
      outcome.refusal = recorded.error().message;
  } else if (auto counted = count(outcome, *session, options); !counted.ok()) {
    return Failure(counted.error());
  }
  session->pmu().set_observer(nullptr);
  return outcome;
}

}  // namespace pmusim::linux_driver
