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

/// An event as it is opened: number `leader` of those before it leads its group.
struct Asked {
  perf::Attr attr;
  std::optional<std::size_t> leader{};
};

/// Instructions and branches, both precise or neither.
std::vector<Asked> pair(u64 precise) { return {{sampling(0xC0, precise)}, {sampling(0xC4, precise)}}; }

/// The same, of which the buffer collects no records: each is to wake its reader.
std::vector<Asked> single_pair() {
  std::vector<Asked> events = pair(2);
  for (Asked& event : events) event.attr.wakeup_events = 1;
  return events;
}

/// Each is reloaded as the other overflows.
std::vector<Asked> reloaded_pair(u64 precise) {
  std::vector<Asked> events = pair(precise);
  events[0].attr.config2 = 2;
  events[1].attr.config2 = 1;
  events[1].leader = 0;
  return events;
}

/// A group whose counters records have, slots and a metric among them, beside so many events that two of them
/// are on GP 4 and 5. The first has the ring.
std::vector<Asked> recorded_group() {
  std::vector<Asked> events;
  for (const u64 config : {0x10000C0, 0x20000C0, 0x10000C4, 0x20000C4, 0x10000C5, 0x20000C5})
    events.push_back({sampling(config, 0)});
  const std::size_t leader = events.size();
  for (const u64 config : {0x0400, 0x8000}) {
    events.push_back({sampling(config, 0), config == 0x0400 ? std::nullopt : std::optional(leader)});
    events.back().attr.sample_period = 0;
  }
  events.push_back({sampling(0xC4, 2), leader});
  events.back().attr.sample_type |= perf::sample::READ;
  events.back().attr.wakeup_events = 1;
  return events;
}

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
    if (cpu_ == nullptr || precise_) return machine_.cpu(0).handle_pmi(frame);
    take();
    std::vector<bool> counted;
    for (const KernelEvent& event : events_.all) counted.push_back(event.counts());
    machine_.cpu(0).handle_pmi(frame);
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

/// What must hold of counts and samples at the end, beside that nothing runs and nothing warns.
enum class Expected : u8 {
  whole_periods,  ///< what has been counted is the periods that are over
  nothing_odd,    ///< reloads drop what has been counted, but no count goes once around the counter
  every_sample,   ///< each period that is over has its sample: no event stops
};

/// What the kernel does while PMIs come: first what is not watched, then what is.
struct Entry {
  std::string name;
  std::vector<Asked> events;
  std::function<void(const Events&)> before, watched;
  Expected expected = Expected::whole_periods;
  unsigned since_release = 0;
  bool (*exists)(const CpuModel&) = [](const CpuModel&) { return true; };

  bool precise() const {
    return std::ranges::any_of(events, [](const Asked& event) { return event.attr.precise_ip != 0; });
  }
};

/// General counters have counted so much of their period, and the kernel has seen it.
void count_some(const Events& events) {
  constexpr u64 counted = 400;
  Pmu& pmu = KernelMachine::present().pmu();
  for (const unsigned n : set_bits(pmu.running_counters() & low_bits(32))) {
    const u64 now = pmu.rdmsr(msr::A_PMC0 + n).value_or(0);
    static_cast<void>(pmu.wrmsr(msr::A_PMC0 + n, now + counted));
  }
  for (const KernelEvent& event : events.all) static_cast<void>(event.read());
}

const std::vector<Entry>& entries() {
  const auto nothing = [](const Events&) {};
  const auto enable = [](const Events& events) { events.enable(); };
  const auto disable = [](const Events& events) { events.disable(); };
  const auto reprogram = [](const Events& events) { events.all.front().set_period(period); };
  const auto read = [](const Events& events) {
    for (const KernelEvent& event : events.all) static_cast<void>(event.read());
  };
  const auto switch_tasks = [](const Events&) {
    linux_switch_to(second_task, 0);
    linux_switch_to(first_task, 0);
  };
  // Nobody runs on a CPU that goes.
  const auto replug = [](const Events&) {
    linux_switch_to(0, 0);
    if (linux_cpu_down(0) != 0 || linux_cpu_up(0) != 0)
      host_print("the kernel refuses to take its CPU down\n");
    linux_switch_to(first_task, 0);
  };
  const auto tick = [](const Events&) {
    const kernel_frame frame{};
    linux_tick(&frame);
  };
  const auto enabled_and_counted = [](const Events& events) {
    events.enable();
    count_some(events);
  };
  constexpr unsigned reloads = 6 << 8 | 16, snapshots = 7 << 8;
  const auto reloading = [](const CpuModel& model) { return model.acr.cause != 0; };
  const auto recording = [](const CpuModel& model) {
    return model.has_arch_pebs() && model.metrics_levels != 0;
  };
  static const std::vector<Entry> all{
      {"enable", pair(0), nothing, enable},
      {"disable", pair(0), enable, disable},
      {"reprogram", pair(0), enable, reprogram},
      {"read", pair(0), enable, read},
      {"tick", pair(0), enable, tick},
      {"switch", pair(0), enable, switch_tasks},
      {"hotplug", pair(0), enable, replug},
      {"enable-precise", pair(2), nothing, enable},
      {"disable-precise", pair(2), enable, disable},
      {"drain", pair(2), enable, read},
      {"switch-precise", pair(2), enable, switch_tasks},
      {"hotplug-precise", pair(2), enable, replug},
      {"enable-single", single_pair(), nothing, enable},
      {"drain-single", single_pair(), enable, read},
      {"switch-single", single_pair(), enable, switch_tasks},
      {"acr-enable", reloaded_pair(0), nothing, enable, Expected::nothing_odd, reloads, reloading},
      {"acr-disable", reloaded_pair(0), enable, disable, Expected::nothing_odd, reloads, reloading},
      {"acr-reprogram", reloaded_pair(0), enable, reprogram, Expected::nothing_odd, reloads, reloading},
      {"acr-tick", reloaded_pair(0), enable, tick, Expected::nothing_odd, reloads, reloading},
      {"acr-switch", reloaded_pair(0), enable, switch_tasks, Expected::nothing_odd, reloads, reloading},
      {"acr-precise", reloaded_pair(2), enable, switch_tasks, Expected::nothing_odd, reloads, reloading},
      {"acr-counted", reloaded_pair(0), enabled_and_counted, read, Expected::nothing_odd, reloads, reloading},
      {"recorded-group", recorded_group(), enable, tick, Expected::every_sample, snapshots, recording},
  };
  return all;
}

struct Overflows final : Observer {
  u64 count = 0;
  void on_overflow(const observed::Overflow&) override { ++count; }
};

/// AMD's driver waits 50 us for the NMI of an event that it stops. Here no time passes in that.
void take_what_is_waited_for(explore::Cpu& cpu) {
  if (cpu.pmu().model().vendor == Vendor::amd) static_cast<void>(cpu.pmu().interrupt({.cpl = Cpl::kernel}));
}

/// An interrupt that comes too late: nothing is enabled any more.
void check_late_interrupt(explore::Cpu& cpu, SampleWatch& watch) {
  watch.take();
  static_cast<void>(cpu.pmu().interrupt({.cpl = Cpl::kernel}));
  if (!watch.take().empty()) cpu.fail("a sample of an event that is disabled");
}

void check_counts(explore::Cpu& cpu, const Events& events, Expected expected, u64 overflows, u64 samples) {
  constexpr u64 half_around = bit(47);
  u64 counted = 0;
  for (const KernelEvent& event : events.all) {
    const u64 count = event.read().value_or(KernelCount{}).counted;
    if (expected == Expected::nothing_odd && count >= half_around)
      return cpu.fail(fmt::format("an event has counted {}", count));
    counted += count;
  }
  if (expected == Expected::every_sample && samples != overflows)
    cpu.fail(fmt::format("{} periods are over, and {} have a sample", overflows, samples));
  if (expected == Expected::whole_periods && counted != overflows * period)
    cpu.fail(fmt::format("{} periods are over, and {} counted", overflows, counted));
}

/// What must hold when nothing is enabled any more.
void check_end(explore::Cpu& cpu, const KernelMachine& machine, const Events& events, Expected expected,
               u64 overflows, u64 samples) {
  if (!machine.traps().empty()) return cpu.fail(text_of(machine.traps().front()));
  if (cpu.pmu().running_counters() != 0) return cpu.fail("a counter still runs");
  const auto lvtpc = cpu.pmu().rdmsr(msr::X2APIC_LVTPC);
  if (lvtpc.ok() && (*lvtpc & msr::lvtpc::MASKED) != 0) return cpu.fail("interrupts stay masked");
  if (samples > overflows) return cpu.fail(fmt::format("{} samples of {} periods", samples, overflows));
  check_counts(cpu, events, expected, overflows, samples);
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
    machine.cpu(0).set_bus(&cpu);
    watch.begin(cpu, entry.precise());
    entry.before(events);
    cpu.open();
    entry.watched(events);
    cpu.close();
    const bool stopped = cpu.pmu().running_counters() == 0;
    if (entry.expected == Expected::every_sample) watch.take();
    take_what_is_waited_for(cpu);
    events.disable();
    if (stopped && entry.name.starts_with("reprogram")) cpu.fail("the counters were not enabled again");
    machine.cpu(0).set_bus(nullptr);
    check_late_interrupt(cpu, watch);
    check_end(cpu, machine, events, entry.expected, overflows.count, watch.samples());
    watch.end();
    cpu.pmu().set_observer(nullptr);
  };
  auto report = explore::explore_on(machine.pmu(), scenario,
                                    {.most_pmis = 1,
                                     .causes = {explore::Cause::overflow, explore::Cause::spurious},
                                     .greatest_delay = entry.expected == Expected::every_sample ? 0 : delay});
  machine.restore(image);
  machine.pmu().set_pmi_handler(&machine.cpu(0));
  return report;
}

std::string explored(const CpuModel& model, const Entry& entry, u32 delay) {
  if (linux_release() < entry.since_release || !entry.exists(model)) return "";
  KernelMachine machine(model);
  if (const int error = machine.boot(); error != 0) return "";
  linux_task_started(first_task, first_task, "first");
  linux_task_started(second_task, second_task, "second");
  linux_switch_to(first_task, 0);
  Events events;
  for (const Asked& asked : entry.events) {
    const int leader = asked.leader ? events.all[*asked.leader].descriptor() : -1;
    auto event = KernelEvent::open(asked.attr, leader, {.pid = first_task, .cpu = -1});
    if (!event.ok())
      return fmt::format("{} {}: refused: {}\n", model.name, entry.name, event.error().message);
    events.all.push_back(std::move(event).value());
  }
  if (auto mapped = events.all.front().map_ring(ring_pages); !mapped.ok())
    throw CommandError(mapped.error().message);
  for (std::size_t n = 1; n < events.all.size(); ++n)
    if (auto given = events.all[n].write_into_ring_of(events.all.front()); !given.ok())
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
      found |= !show(child, model.name + " " + entry.name) || child.text.find("FOUND") != std::string::npos;
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
          "enable, disable, reprogram, read, tick, switch, hotplug, drain; enable-, disable-, switch-, "
          "hotplug-precise; enable-, drain-, switch-single of records that are not collected; acr-enable, "
          "-disable, -reprogram, -tick, -switch, -precise, -counted of events that reload each other; "
          "recorded-group of counters in records (default all)")
      ->allow_extra_args(false);
  command->add_option("--delay", options->delay, "Places that a PMI may be late by (default 2)");
  command->callback([options] { run_explore(*options); });
}

}  // namespace pmusim::linux_driver
