// SPDX-License-Identifier: MIT
#include "cpu/cycle_views.h"

#include <algorithm>

#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

using enum Quantity;

/// A CMASK of as many as the core issues.
constexpr unsigned full_width = 0;

/// Cycles in which there is a number of something, as a sum of quantities.
struct CycleView {
  Quantity of;
  unsigned cmask;
  bool inv;
  std::array<Quantity, 4> cycles{};
};

constexpr CycleView views[] = {
    {uops_issued, 1, false, {cycles_issuing}},
    {uops_issued, 1, true, {cycles_not_issuing}},
    {uops_executed, 1, true, {cycles_executing_none}},
    {uops_executed,
     1,
     false,
     {cycles_executing_one, cycles_executing_two, cycles_executing_three, cycles_executing_more}},
    {uops_executed, 2, false, {cycles_executing_two, cycles_executing_three, cycles_executing_more}},
    {uops_executed, 3, false, {cycles_executing_three, cycles_executing_more}},
    {uops_executed, 4, false, {cycles_executing_more}},
    {uops_dsb, 1, false, {dsb_cycles_any}},
    {uops_dsb, full_width, false, {dsb_cycles_ok}},
    {uops_mite, 1, false, {mite_cycles_any}},
    {uops_mite, full_width, false, {mite_cycles_ok}},
    {uops_mite, 4, false, {mite_cycles_four_uops}},
    {uops_first_decoder, 1, false, {mite_cycles_any}},
    {instructions_decoded, 1, false, {mite_cycles_any}},
    {instructions_decoded, 2, false, {mite_cycles_two_decoders}},
    {uops_ms, 1, false, {ms_cycles}},
    {uops_lsd, 1, false, {lsd_cycles_any}},
    {uops_lsd, full_width, false, {lsd_cycles_ok}},
    {slots_frontend, full_width, false, {starved_cycles}},
    {l1d_misses_under_way, 1, false, {cycles_l1d_misses}},
    {data_reads_under_way, 1, false, {cycles_l2_misses}},
    {memory_reads_under_way, 1, false, {cycles_l3_misses}},
    {ownership_reads_under_way, 1, false, {cycles_ownership_reads}},
    {code_reads_under_way, 1, false, {cycles_code_reads}},
    {all_data_reads_under_way, 1, false, {cycles_all_data_reads}},
    {all_data_reads_under_way, 4, false, {cycles_four_data_reads}},
    {all_data_reads_under_way, 6, false, {cycles_six_data_reads}},
    {data_reads_under_way, 6, false, {cycles_six_demand_reads}},
    {memory_reads_under_way, 6, false, {cycles_six_memory_reads}},
};

constexpr EventRule sum_of(const std::array<Quantity, 4>& cycles) {
  return {.quantity = cycles[0], .plus = {cycles[1], cycles[2], cycles[3]}};
}

/// The instruction at which the sequencer takes over is known (IDQ.MS_SWITCHES), when fill buffers come to be
/// full (L1D_PEND_MISS.FB_FULL_PERIODS), and when the scheduler is no longer empty (RS_EVENTS.EMPTY_END).
std::optional<EventRule> beginnings(const EventRule& rule, const CycleCondition& condition) {
  if (condition.cmask != 1) return std::nullopt;
  if (condition.inv)  // the end, when it is no longer so
    return rule.quantity == scheduler_empty_cycles
               ? std::optional(EventRule{.quantity = scheduler_empty_periods})
               : std::nullopt;
  if (rule.quantity == uops_ms) return EventRule{.all = {Signal::ms_switch}};
  if (rule.quantity == fill_buffers_full_cycles) return EventRule{.quantity = fill_buffers_full_periods};
  return std::nullopt;
}

}  // namespace

CycleCondition cycle_condition(u64 event_select, unsigned issue_width) {
  using namespace msr;
  return {.cmask = static_cast<unsigned>(field(event_select, 31, 24)),
          .inv = (event_select & evtsel::INV) != 0,
          .edge = (event_select & evtsel::EDGE) != 0,
          .issue_width = issue_width};
}

std::optional<EventRule> cycles_with(const EventRule& rule, const CycleCondition& condition) {
  if (rule.quantity == none || rule.minus != none || condition.cmask == 0) return std::nullopt;
  if (condition.edge) return beginnings(rule, condition);
  // A cycle of these has as many occurrences as the event's name says, and any other none.
  if (is_cycle_total(rule.quantity) && condition.cmask <= rule.per_cycle && !condition.inv)
    return EventRule{.quantity = rule.quantity, .plus = rule.plus};
  const auto* view = std::ranges::find_if(views, [&](const CycleView& v) {
    const unsigned cmask = v.cmask == full_width ? condition.issue_width : v.cmask;
    return v.of == rule.quantity && cmask == condition.cmask && v.inv == condition.inv;
  });
  return view == std::end(views) ? std::nullopt : std::optional(sum_of(view->cycles));
}

bool differs_from_cycles(const EventRule& rule) {
  return is_cycle_total(rule.quantity) ||
         std::ranges::find(views, rule.quantity, &CycleView::of) != std::end(views);
}

}  // namespace pmusim
