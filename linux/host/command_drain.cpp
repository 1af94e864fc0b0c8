// SPDX-License-Identifier: MIT
// Both drivers' drains of architectural PEBS over records that are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "host/child.h"
#include "host/commands.h"
#include "host/difference.h"
#include "host/drawn_records.h"
#include "host/side.h"
#include "pmusim/arch/msr.h"

namespace pmusim::linux_driver {

namespace {

constexpr u64 ring_pages = 256, buffers_of_a_setup = 20;

struct DrainOptions {
  std::vector<std::string> models;
  u64 records = 100'000, seed = 1, context = 0;
};

/// Why a drain happens. One event that is disabled with records in the buffer, and enabled again, has them
/// drained or not; the others' are drained by the interrupt behind that.
enum class Reason : u8 { interrupt, read, disable };

Reason drawn_reason(Drawing& draw) {
  const u64 n = draw.below(10);
  return n < 6 ? Reason::interrupt : n < 8 ? Reason::read : Reason::disable;
}

/// What one side writes and counts, from a seed. Nothing that is drawn depends on it.
class Run {
 public:
  Run(Side& side, u64 seed) : side_(side), draw_(seed) {}

  /// Rounds of one set-up, behind which its events are closed.
  Outcome setup(u64 most_records);
  u64 records() const { return records_; }
  /// Of the latest set-up.
  const std::vector<DrawnEvent>& drawn() const { return drawn_; }

 private:
  bool open(const std::vector<DrawnEvent>& drawn, DriverEvents& events, Outcome& outcome);
  void round(DriverEvents& events, Outcome& outcome);
  void drain(DriverEvents& events, Reason reason, std::size_t disabled, const InterruptFrame& frame);
  void interrupt(const InterruptFrame& frame);
  InterruptFrame drawn_frame();

  Side& side_;
  Drawing draw_;
  std::vector<DrawnEvent> drawn_;
  u64 tsc_ = 1000, cycle_ = 0, records_ = 0;
};

bool Run::open(const std::vector<DrawnEvent>& drawn, DriverEvents& events, Outcome& outcome) {
  for (const DrawnEvent& event : drawn)
    if (const auto opened = events.open(event.attr, std::nullopt, {}); !opened.ok()) {
      outcome.refusal = fmt::format("event {}: error {}", events.size(), opened.error().error_number);
      return false;
    }
  if (const auto mapped = events.map_ring(ring_pages); !mapped.ok()) {
    outcome.refusal = mapped.error().message;
    return false;
  }
  for (std::size_t n = 0; n < drawn.size(); ++n) events.enable(n);
  return true;
}

InterruptFrame Run::drawn_frame() {
  InterruptFrame frame;
  frame.registers_known = true;
  for (u64& value : frame.registers.gpr) value = draw_.next();
  frame.registers.rip = 0x400000 + draw_.below(1 << 20);
  frame.registers.rflags = 0x202;
  return frame;
}

void Run::interrupt(const InterruptFrame& frame) {
  Pmu& pmu = side_.pmu();
  static_cast<void>(pmu.wrmsr(msr::PERF_GLOBAL_STATUS_SET, msr::status::ARCH_PEBS));
  pmu.request_pmi();
  pmu.interrupt(frame);
}

void Run::drain(DriverEvents& events, Reason reason, std::size_t disabled, const InterruptFrame& frame) {
  switch (reason) {
    case Reason::interrupt:
      return interrupt(frame);
    case Reason::read:
      static_cast<void>(events.read(0));
      return;
    case Reason::disable:
      events.disable(disabled);
      events.enable(disabled);
      return interrupt(frame);
  }
}

void Run::round(DriverEvents& events, Outcome& outcome) {
  constexpr u64 room = Side::buffer_bytes - 4096;
  const u64 most = draw_.chance(30) ? 1 + draw_.below(8) : ~u64{0};
  const DrawnBuffer buffer =
      drawn_arch_records(draw_, asked_groups(drawn_), room, most, side_.pmu().model().lbr.depth, tsc_);
  const Reason reason = drawn_reason(draw_);
  const std::size_t disabled = draw_.below(drawn_.size());
  const InterruptFrame frame = drawn_frame();
  records_ += buffer.records;
  cycle_ += 4'000'000;
  side_.pass(cycle_, frame);
  side_.fill(buffer.bytes);
  drain(events, reason, disabled, frame);
  // What the interrupt has left to be done: an event that closes would wait for it.
  side_.pass(cycle_, frame);
  events.drain_into(outcome.records);
}

Outcome Run::setup(u64 most_records) {
  Outcome outcome;
  WriteLog log(0);
  side_.pmu().set_observer(&log);
  drawn_ = drawn_precise_events(draw_, side_.pmu().model().core_type);
  const std::unique_ptr<DriverEvents> events = side_.events();
  Drawing rounds(draw_.next());
  std::swap(draw_, rounds);  // what refused set-ups do not draw is not missing in the next
  if (open(drawn_, *events, outcome))
    for (u64 n = 0; n < buffers_of_a_setup && records_ < most_records; ++n) round(*events, outcome);
  std::swap(draw_, rounds);
  for (std::size_t n = 0; n < events->size(); ++n) outcome.counts.push_back(events->read(n));
  for (std::size_t n = events->size(); n-- > 0;) events->close(n);
  side_.pmu().set_observer(nullptr);
  outcome.writes = std::move(log.writes);
  outcome.warnings = side_.warnings();
  return outcome;
}

std::string text_of(const std::vector<DrawnEvent>& drawn) {
  std::string text;
  for (const DrawnEvent& e : drawn)
    text +=
        fmt::format("  r{:x}{}: period {}, sample_type {:x}, branches {:x}, registers {:x}\n", e.attr.config,
                    e.attr.precise_ip != 0 ? ":pp" : "", static_cast<u64>(e.attr.sample_period),
                    static_cast<u64>(e.attr.sample_type), static_cast<u64>(e.attr.branch_sample_type),
                    static_cast<u64>(e.attr.sample_regs_intr));
  return text;
}

/// Registers that each driver writes as it likes: LVTPC, and where its buffer is.
std::vector<KnownDifference> unlike_writes() {
  std::vector<KnownDifference> known;
  for (const u32 address : {msr::X2APIC_LVTPC, msr::PEBS_BASE})
    known.push_back({.kind = "write", .address = address, .bits = ~u64{0}});
  return known;
}

/// "" if the two agree in `records` records.
std::string drained(const CpuModel& model, u64 records, u64 seed, u64 context) {
  const std::unique_ptr<Side> kernel = kernel_side(model), session = session_side(model);
  Run theirs(*kernel, seed), ours(*session, seed);
  u64 setups = 0, samples = 0, refused = 0;
  while (theirs.records() < records) {
    ++setups;
    const Outcome a = theirs.setup(records), b = ours.setup(records);
    samples += a.records.size();
    if (a.refusal && b.refusal) ++refused;
    const auto found = differences(a, b, unlike_writes());
    if (!found.empty())
      return fmt::format("{}: set-up {} of seed {} differs\n{}  {}: {}\n{}{}", model.name, setups, seed,
                         text_of(theirs.drawn()), found.front().kind, found.front().text,
                         records_at_difference(a, b, {}),
                         context != 0 ? writes_around_difference(a, b, unlike_writes(), context) : "");
  }
  return fmt::format(
      "{}: {} records of {} set-ups ({} refused by both), {} bytes of samples: no difference\n", model.name,
      theirs.records(), setups, refused, samples);
}

void run_drain(const DrainOptions& options) {
  constexpr u64 most_of_a_process = 100'000;
  bool found = false;
  for (const CpuModel& model : models_named(options.models)) {
    if (!model.has_arch_pebs()) continue;
    for (u64 done = 0; done < options.records; done += most_of_a_process) {
      const ChildResult child = in_child([&] {
        return drained(model, std::min(most_of_a_process, options.records - done),
                       options.seed + done / most_of_a_process, options.context);
      });
      found |= !show(child, model.name) || child.text.find("no difference") == std::string::npos;
    }
  }
  if (found) throw Findings();
}

}  // namespace

void add_drain(CLI::App& app) {
  auto options = std::make_shared<DrainOptions>();
  CLI::App* const command = app.add_subcommand(
      "drain",
      "Hold this project's drain of architectural PEBS against the kernel's: sample bytes of drawn records");
  command->add_option("MODEL", options->models, "Models (default all with architectural PEBS)");
  command->add_option("--records", options->records, "Records for each model (default 100000)");
  command->add_option("--seed", options->seed, "Of what is drawn (default 1)");
  command->add_option("--context", options->context,
                      "Where something differs, show so many writes of registers before and behind the first "
                      "that does");
  command->callback([options] { run_drain(*options); });
}

}  // namespace pmusim::linux_driver
