// SPDX-License-Identifier: MIT
// The kernel's driver with a PMI at every place among its register accesses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "host/child.h"
#include "host/commands.h"
#include "host/kernel_events.h"
#include "host/machine.h"
#include "pmusim/explore/explore.h"
#include "pmusim/pmu/observer.h"

namespace pmusim::linux_driver {

namespace {

constexpr u64 period = 1000, ring_pages = 8;
constexpr int first_task = 100, second_task = 200;

struct ExploreOptions {
  std::vector<std::string> models, entries;
  u32 delay = 2;
};

perf::Attr sampling(u64 config, u64 precise) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = config;
  attr.sample_period = period;
  attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID | perf::sample::TIME;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  attr.disabled = 1;
  attr.precise_ip = precise & 3;
  return attr;
}

/// Events that are open and not yet enabled, as a scenario finds them.
struct Events {
  std::vector<KernelEvent> all;
  void enable() const {
    for (const KernelEvent& event : all) event.enable();
  }
  void disable() const {
    for (const KernelEvent& event : all) event.disable();
  }
};

/// What an interrupt may write: samples of events that count. Those of precise events are in a buffer by
/// then, and come out of it even where the event has been stopped meanwhile.
class SampleWatch final : public PmiHandler {
 public:
  SampleWatch(KernelMachine& machine, const Events& events)
      : machine_(machine), events_(events), ring_(events.all.front(), ring_pages) {
    for (const KernelEvent& event : events.all) ids_.push_back(event.id());
  }

  void begin(explore::Cpu& cpu, bool precise) {
    cpu_ = &cpu;
    precise_ = precise;
    samples_ = 0;
  }
  void end() { cpu_ = nullptr; }
  u64 samples() const { return samples_; }
  /// Samples that have come since the last look, of which event each is.
  std::vector<std::size_t> take() {
    std::vector<std::byte> records;
    ring_.drain_into(records);
    std::vector<std::size_t> of;
    perf::RecordHeader header;
    for (std::size_t at = 0; at + sizeof header + 8 <= records.size(); at += header.size) {
      std::memcpy(&header, &records[at], sizeof header);
      if (static_cast<perf::RecordType>(header.type) != perf::RecordType::sample) continue;
      u64 id = 0;
      std::memcpy(&id, &records[at + sizeof header], sizeof id);
      of.push_back(static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin()));
    }
    samples_ += of.size();
    return of;
  }

  void handle_pmi(const InterruptFrame& frame) override {
    if (cpu_ == nullptr || precise_) return machine_.handle_pmi(frame);
    take();
    std::vector<bool> counted;
    for (const KernelEvent& event : events_.all) counted.push_back(event.counts());
    machine_.handle_pmi(frame);
    for (const std::size_t n : take())
      if (n >= counted.size() || !counted[n]) cpu_->fail("a sample of an event that does not count");
  }

 private:
  KernelMachine& machine_;
  const Events& events_;
  KernelRing ring_;
  std::vector<u64> ids_;
  explore::Cpu* cpu_ = nullptr;
  bool precise_ = false;
  u64 samples_ = 0;
};

/// What the kernel does while PMIs come: first what is not watched, then what is.
struct Entry {
  std::string name;
  u64 precise;
  std::function<void(const Events&)> before, watched;
};

const std::vector<Entry>& entries() {
  const auto nothing = [](const Events&) {};
  const auto enable = [](const Events& events) { events.enable(); };
  const auto disable = [](const Events& events) { events.disable(); };
  const auto reprogram = [](const Events& events) { events.all.front().set_period(period); };
  const auto read = [](const Events& events) {
    for (const KernelEvent& event : events.all) static_cast<void>(event.read());
  };
  const auto switch_tasks = [](const Events&) {
    linux_switch_to(second_task);
    linux_switch_to(first_task);
  };
  // Nobody runs on a CPU that goes.
  const auto replug = [](const Events&) {
    linux_switch_to(0);
    if (linux_cpu_down() != 0 || linux_cpu_up() != 0) host_print("the kernel refuses to take its CPU down\n");
    linux_switch_to(first_task);
  };
  const auto tick = [](const Events&) {
    const kernel_frame frame{};
    linux_tick(&frame);
  };
  static const std::vector<Entry> all{
      {"enable", 0, nothing, enable},
      {"disable", 0, enable, disable},
      {"reprogram", 0, enable, reprogram},
      {"read", 0, enable, read},
      {"tick", 0, enable, tick},
      {"switch", 0, enable, switch_tasks},
      {"hotplug", 0, enable, replug},
      {"enable-precise", 2, nothing, enable},
      {"disable-precise", 2, enable, disable},
      {"drain", 2, enable, read},
      {"switch-precise", 2, enable, switch_tasks},
      {"hotplug-precise", 2, enable, replug},
  };
  return all;
}

struct Overflows final : Observer {
  u64 count = 0;
  void on_overflow(const observed::Overflow&) override { ++count; }
};

/// An interrupt that comes too late: nothing is enabled any more.
void check_late_interrupt(explore::Cpu& cpu, SampleWatch& watch) {
  watch.take();
  static_cast<void>(cpu.pmu().interrupt({.cpl = Cpl::kernel}));
  if (!watch.take().empty()) cpu.fail("a sample of an event that is disabled");
}

/// What must hold when nothing is enabled any more.
void check_end(explore::Cpu& cpu, const KernelMachine& machine, const Events& events, u64 overflows,
               u64 samples) {
  if (!machine.traps().empty()) return cpu.fail(text_of(machine.traps().front()));
  if (cpu.pmu().running_counters() != 0) return cpu.fail("a counter still runs");
  const auto lvtpc = cpu.pmu().rdmsr(msr::X2APIC_LVTPC);
  if (lvtpc.ok() && (*lvtpc & msr::lvtpc::MASKED) != 0) return cpu.fail("interrupts stay masked");
  u64 counted = 0;
  for (const KernelEvent& event : events.all) counted += event.read().value_or(KernelCount{}).counted;
  if (samples > overflows) return cpu.fail(fmt::format("{} samples of {} periods", samples, overflows));
  if (counted != overflows * period)
    cpu.fail(fmt::format("{} periods are over, and {} counted", overflows, counted));
}

/// One entry on a booted machine: each run begins with the same kernel and the same hardware.
Result<explore::Report, Error> explore_entry(KernelMachine& machine, const Entry& entry, const Events& events,
                                             u32 delay) {
  SampleWatch watch(machine, events);
  machine.pmu().set_pmi_handler(&watch);
  const KernelMachine::Image image = machine.image();
  const auto scenario = [&](explore::Cpu& cpu) {
    machine.restore(image);
    machine.forget_traps();
    Overflows overflows;
    cpu.pmu().set_observer(&overflows);
    machine.set_bus(&cpu);
    watch.begin(cpu, entry.precise != 0);
    entry.before(events);
    cpu.open();
    entry.watched(events);
    cpu.close();
    const bool stopped = cpu.pmu().running_counters() == 0;
    events.disable();
    if (stopped && entry.name.starts_with("reprogram")) cpu.fail("the counters were not enabled again");
    machine.set_bus(nullptr);
    check_late_interrupt(cpu, watch);
    check_end(cpu, machine, events, overflows.count, watch.samples());
    watch.end();
    cpu.pmu().set_observer(nullptr);
  };
  auto report = explore::explore_on(machine.pmu(), scenario,
                                    {.most_pmis = 1,
                                     .causes = {explore::Cause::overflow, explore::Cause::spurious},
                                     .greatest_delay = delay});
  machine.restore(image);
  machine.pmu().set_pmi_handler(&machine);
  return report;
}

std::string explored(const CpuModel& model, const Entry& entry, u32 delay) {
  KernelMachine machine(model);
  if (const int error = machine.boot(); error != 0) return "";
  linux_task_started(first_task, first_task, "first");
  linux_task_started(second_task, second_task, "second");
  linux_switch_to(first_task);
  Events events;
  for (const u64 config : {0xC0, 0xC4}) {
    auto event = KernelEvent::open(sampling(config, entry.precise), -1, {.pid = first_task, .cpu = -1});
    if (!event.ok())
      return fmt::format("{} {}: refused: {}\n", model.name, entry.name, event.error().message);
    events.all.push_back(std::move(event).value());
  }
  if (auto mapped = events.all.front().map_ring(ring_pages); !mapped.ok())
    throw CommandError(mapped.error().message);
  if (auto given = events.all.back().write_into_ring_of(events.all.front()); !given.ok())
    throw CommandError(given.error().message);
  const explore::Report report = value_or_fail(explore_entry(machine, entry, events, delay));
  const std::string head =
      fmt::format("{} {}: {} runs, {} places", model.name, entry.name, report.runs, report.boundaries);
  return report.finding ? fmt::format("{}: FOUND {}\n", head, explore::text_of(*report.finding))
                        : head + ": nothing\n";
}

std::vector<Entry> entries_named(const std::vector<std::string>& names) {
  if (names.empty()) return entries();
  std::vector<Entry> chosen;
  for (const std::string& name : names) {
    const auto& all = entries();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& entry) { return entry.name == name; });
    if (found == all.end()) throw CommandError(fmt::format("no entry '{}' of the driver", name));
    chosen.push_back(*found);
  }
  return chosen;
}

void run_explore(const ExploreOptions& options) {
  bool found = false;
  for (const CpuModel& model : models_named(options.models))
    for (const Entry& entry : entries_named(options.entries)) {
      const ChildResult child = in_child([&] { return explored(model, entry, options.delay); });
      std::fputs(child.text.c_str(), stdout);
      if (child.exit_status != 0)
        std::printf("%s %s: ended with exit status %d\n", model.name.c_str(), entry.name.c_str(),
                    child.exit_status);
      found = found || child.exit_status != 0 || child.text.find("FOUND") != std::string::npos;
    }
  if (found) throw Findings();
}

}  // namespace

void add_explore(CLI::App& app) {
  auto options = std::make_shared<ExploreOptions>();
  CLI::App* const command = app.add_subcommand(
      "explore", "Run the kernel's driver with a PMI at every place among its register accesses");
  command->add_option("MODEL", options->models, "Models (default all)");
  command
      ->add_option(
          "--entry", options->entries,
          "enable, disable, reprogram, read, tick, switch, hotplug, drain, and enable-, disable-, switch-, "
          "hotplug-precise (default all)")
      ->allow_extra_args(false);
  command->add_option("--delay", options->delay, "Places that a PMI may be late by (default 2)");
  command->callback([options] { run_explore(*options); });
}

}  // namespace pmusim::linux_driver
