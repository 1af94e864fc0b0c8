// SPDX-License-Identifier: MIT
#include "pmu/uncounted.h"

#include <fmt/format.h>

#include "pmusim/arch/msr.h"
#include "pmusim/cpu/setup.h"

namespace pmusim::machine {
namespace {

/// The event as it was programmed: "event D1, umask 08, cmask 1".
std::string programmed(const CpuModel& model, const CountedEvent& counted) {
  using namespace msr;
  if (counted.counter >= 32) return fmt::format("fixed counter {}", counted.counter - 32);
  const u64 select = counted.event_select;
  const bool wide = model.select == SelectLayout::wide_events;
  const u64 event = wide ? amd::ctl::event(select) : field(select, 7, 0);
  const u64 umask = field(select, 15, 8) | (wide ? 0 : field(select, 47, 40) << 8);
  std::string text = fmt::format("event {:02X}, umask {:02X}", event, umask);
  if (counted.extra != 0) text += fmt::format(", with {:X} in its register", counted.extra);
  if ((select & evtsel::CMASK) != 0) text += fmt::format(", cmask {}", field(select, 31, 24));
  if ((select & evtsel::INV) != 0) text += ", inv";
  if ((select & evtsel::EDGE) != 0) text += ", edge";
  return text;
}

bool counts_in_transactions(const CpuModel& model, u64 event_select) {
  return model.select == SelectLayout::modifiers &&
         (event_select & (msr::evtsel::IN_TX | msr::evtsel::IN_TXCP)) != 0;
}

/// With INV and a CMASK that no cycle reaches, the counter counts every cycle: perf asks so for precise ones.
bool counts_every_cycle(const CountedEvent& counted) {
  using namespace msr;
  constexpr u64 most_uops = 16;  // of an instruction, but for long microcode
  const u64 select = counted.event_select, cmask = field(select, 31, 24);
  if ((select & evtsel::INV) == 0 || (select & evtsel::EDGE) != 0) return false;
  switch (counted.event->rule.quantity) {
    case Quantity::none:
      return cmask > 1;
    case Quantity::uops:
      return cmask >= most_uops;
    default:
      return false;
  }
}

std::string_view what_is_missing(const CountedEvent& counted) {
  const bool only_predictions =
      is_known_at(CoreLevel::simple, *counted.event, counted.event_select, counted.extra);
  return only_predictions ? "predicts every branch" : "has neither caches nor a pipeline";
}

std::optional<std::string> why_not_counted(const CpuModel& model, const CountedEvent& counted) {
  const std::string what = programmed(model, counted);
  if (!counted.event)
    return fmt::format("the guest counted {}: {} has no such event here; it read 0", what, model.title);
  const EventRule& rule = counted.event->rule;
  const std::string_view name = counted.event->name;
  if (counts_in_transactions(model, counted.event_select))
    return fmt::format("the guest counted {} ({}) in transactions: this machine has none; it read 0", name,
                       what);
  if (counts_every_cycle(counted) ||
      is_known_at(CoreLevel::flat, *counted.event, counted.event_select, counted.extra))
    return std::nullopt;
  const bool stands = rule.none.empty() && rule.quantity != Quantity::uops &&
                      rule.quantity != Quantity::slots && (counted.event_select & msr::evtsel::INV) == 0;
  return fmt::format("the guest counted {} ({}): this machine {}; {}", name, what, what_is_missing(counted),
                     stands ? "it read 0" : "what it read is no count of it");
}

}  // namespace

std::optional<std::string> Uncounted::remark(const CpuModel& model, const CountedEvent& counted) {
  using namespace msr;
  constexpr u64 when = evtsel::EN | evtsel::USR | evtsel::OS | evtsel::INT;
  const u64 fixed = counted.counter < 32 ? 0 : counted.counter;
  if (seen_.size() > most || !seen_.insert({counted.event_select & ~when, counted.extra, fixed}).second)
    return std::nullopt;
  if (seen_.size() > most)
    return fmt::format("the guest counted more than {} different events; of further ones nothing is said",
                       most);
  return why_not_counted(model, counted);
}

}  // namespace pmusim::machine
