// SPDX-License-Identifier: MIT
#include "msr/counters.h"

#include <algorithm>

#include "cpu/core_facts.h"
#include "cpu/cycle_views.h"
#include "cpu/front_end.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {
constexpr u64 modifiers_below_32 = bits(31, 16);
}
CounterFile::CounterFile(const CpuModel& model)
    : model_(&model),
      width_mask_(low_bits(model.counter_width)),
      modifier_mask_(model.select == SelectLayout::wide_events ? modifiers_below_32 : ~u64{0}),
      tsc_(tsc_clock(model.core)),
      bus_(bus_clock(model.core)),
      global_ctrl_(global_ctrl_after_reset(model)),
      metrics_(model.metrics_levels) {
  derive();
}

bool CounterFile::Running::satisfied_by(u64 k) const {
  if (cmask == 0) return equal ? k == 0 : k != 0;
  const bool condition = equal ? k == cmask : k >= cmask;
  return condition != inv;
}

void CounterFile::add(unsigned counter, u64 occurrences, Counted& counted) {
  const u64 sum = counts_[counter] + occurrences;
  counts_[counter] = sum & width_mask_;
  counted.occurred |= bit(counter);
  if (sum > width_mask_ && !carries(counter)) counted.overflowed |= bit(counter);
}

/// The counter is one of a pair, and the upper half takes its carry without wrapping.
bool CounterFile::carries(unsigned counter) {
  if ((derived_.merged & bit(counter)) == 0) return false;
  u64& upper = counts_[counter + 1];
  upper = (upper + 1) & low_bits(16);
  return upper != 0;
}

void CounterFile::count(const Running& running, u64 occurrences, Counted& counted) {
  if (running.waits_for_cycle())
    in_cycle_[running.counter] += static_cast<u32>(occurrences);
  else
    add(running.counter, occurrences, counted);
}

Counted CounterFile::retire(const Retirement& retirement) {
  Counted counted;
  if (retirement.tx != tx_) change_transaction(retirement.tx);
  cycle_has_retired_ = true;
  cycle_cpl_ = retirement.cpl;
  const bool in_tx = tx_ == TxState::in_tx;
  for (const Running& running : derived_.retired) {
    if (!running.passes(retirement.cpl, in_tx)) continue;
    const u64 k = occurrences(running, retirement);
    if (k != 0) count(running, k, counted);
  }
  const bool metrics_count = retirement.cpl == Cpl::kernel ? derived_.metrics_kernel : derived_.metrics_user;
  if (metrics_count && metrics_.count(PerfMetrics::slots_in(retirement.quantities)))
    counted.overflowed |= msr::status::PERF_METRICS;
  return counted;
}

Counted CounterFile::count_late(Signal signal, const Retirement& r) {
  if (signal == Signal::lbr_insert && !derived_.counts_lbr_inserts) return {};
  return retire(
      {.ip = r.ip, .next_ip = r.next_ip, .cycle = r.cycle, .signals = {signal}, .cpl = r.cpl, .tx = r.tx});
}

/// What a condition makes of the cycles since the previous retirement, of which the quantity says how many
/// had the event. They have closed already, so that this rule is applied to all of them at once.
u64 CounterFile::lost_cycles(const Running& running, const Retirement& r) {
  const u64 all = r.quantities[static_cast<unsigned>(Quantity::cycles)];
  const u64 with = std::min<u64>(all, running.remainder(r));
  const u64 satisfied =
      (running.satisfied_by(running.per_cycle) ? with : 0) + (running.satisfied_by(0) ? all - with : 0);
  // Such cycles follow each other, and none of them is the one in which the instruction before retired.
  return running.edge ? std::min<u64>(satisfied, 1) : satisfied;
}

Counted CounterFile::close_cycles(u64 cycle, Cpl cpl) {
  Counted counted;
  while (now_ != cycle && counted.overflowed == 0) {
    // The cycle that instructions retired in closes by itself: it has their occurrences and their privilege.
    const bool compared = !derived_.per_cycle.empty() || !derived_.core_per_cycle.empty();
    const bool alone = cycle_has_retired_ && (compared || cycle_cpl_ != cpl);
    close_span(alone || derived_.single_steps ? 1 : cycle - now_, cycle_has_retired_ ? cycle_cpl_ : cpl,
               counted);
  }
  return counted;
}

void CounterFile::close_span(u64 cycles, Cpl cpl, Counted& counted) {
  CycleSpan span = span_of(cycles, cpl);
  for (const Running& running : derived_.clocked) span.end = now_ + cycles_to_wrap(running, span);
  for (const Running& running : derived_.per_cycle) span.end = now_ + cycles_to_wrap(running, span);
  if (derived_.of_core != 0) [[unlikely]]
    span.end = now_ + core_cycles_to_wrap(span);
  for (const Running& running : derived_.clocked) {
    const u64 passed = running.passes(cpl, span.in_tx) ? ticks(running, span.cycles()) : 0;
    if (passed != 0) add(running.counter, passed, counted);
  }
  for (const Running& running : derived_.per_cycle) {
    const u64 added = increment(running, span);
    if (added != 0) add(running.counter, added, counted);
  }
  for (const Running& running : derived_.per_cycle) close_last_cycle(running, span);
  if (derived_.of_core != 0) [[unlikely]]
    close_span_of_core(span, counted);
  now_ = span.end;
  cycle_has_retired_ = false;
}

/// The last of cycles that a per-cycle rule has counted, which EDGE compares the next one with.
void CounterFile::close_last_cycle(const Running& running, const CycleSpan& span) {
  const bool passes = running.passes(span.cpl, span.in_tx);
  const u64 k = in_cycle_[running.counter] + (passes ? ticks(running, span.begin, 1) : 0);
  const bool satisfied = running.edge && (passes || k != 0) && running.satisfied_by(k);
  was_satisfied_ = (was_satisfied_ & ~bit(running.counter)) | u64{satisfied} << running.counter;
  in_cycle_[running.counter] = 0;
}

/// What a per-cycle rule adds over cycles that are all alike.
u64 CounterFile::increment(const Running& running, const CycleSpan& span) const {
  const bool passes = running.passes(span.cpl, span.in_tx);
  const u64 k = in_cycle_[running.counter] + (passes ? ticks(running, span.begin, 1) : 0);
  if (!(passes || k != 0) || !running.satisfied_by(k)) return 0;
  if (running.most_in_cycle != 0) return std::min<u64>(k, running.most_in_cycle);
  if (!running.edge) return span.cycles();
  return (was_satisfied_ & bit(running.counter)) == 0 ? 1 : 0;
}

/// How many cycles of the span, all or fewer if the counter wraps before.
u64 CounterFile::cycles_to_wrap(const Running& running, const CycleSpan& span) const {
  const u64 room = width_mask_ - counts_[running.counter];
  if (running.has_condition()) {
    const u64 added = increment(running, span);
    if (added <= room) return span.cycles();
    return running.edge || running.most_in_cycle != 0 ? 1 : room + 1;
  }
  if (!running.passes(span.cpl, span.in_tx) || ticks(running, span.begin, span.cycles()) <= room)
    return span.cycles();
  return cycles_for(running, span.begin, room + 1);
}

u64 CounterFile::ticks(const Running& running, u64 begin, u64 cycles) const {
  switch (running.source) {
    case Source::core_clock:
      return cycles * running.per_cycle;
    case Source::tsc:
      return tsc_.ticks(begin + cycles) - tsc_.ticks(begin);
    case Source::bus_clock:
      return bus_.ticks(begin + cycles) - bus_.ticks(begin);
    case Source::occurrences:
    case Source::lost_cycles:
      break;
  }
  return 0;
}

/// In how many cycles a clock will have ticked so often.
u64 CounterFile::cycles_for(const Running& running, u64 begin, u64 wanted_ticks) const {
  if (running.source == Source::tsc) return tsc_.cycle_of(tsc_.ticks(begin) + wanted_ticks) - begin;
  if (running.source == Source::bus_clock) return bus_.cycle_of(bus_.ticks(begin) + wanted_ticks) - begin;
  return (wanted_ticks + running.per_cycle - 1) / running.per_cycle;
}

/// A counter that counts in transactions only (IN_TX too) may keep what an aborted one added: the manual has
/// it go back, tests of hypervisors expect to find counts.
bool CounterFile::goes_back_at_abort(unsigned counter) const {
  return model_->policies.in_txcp_abort == 0 || (event_select_[counter] & msr::evtsel::IN_TX) == 0;
}

/// Counter 2 with IN_TXCP returns to its value at the start of a transaction that aborts, and so does its
/// overflow bit (SDM vol. 3, TSX performance monitoring).
void CounterFile::change_transaction(TxState tx) {
  if (derived_.checkpointed != 0) {
    constexpr unsigned counter = 2;
    if (tx == TxState::in_tx) {
      checkpoint_ = counts_[counter];
      checkpoint_status_ = status_ & bit(counter);
    } else if (tx == TxState::aborting && goes_back_at_abort(counter)) {
      counts_[counter] = checkpoint_;
      status_ = (status_ & ~bit(counter)) | checkpoint_status_;
    }
  }
  tx_ = tx;
}

void CounterFile::set_status(u64 mask) {
  if (!model_->has_global_control()) return;
  const bool freezes = (mask & ~status_ & msr::status::CTR_FRZ) != 0;
  status_ |= mask;
  if (freezes) derive();
}

void CounterFile::clear_status(u64 mask) {
  const bool thaws = (mask & status_ & msr::status::CTR_FRZ) != 0;
  status_ &= ~mask;
  if (thaws) derive();
}

void CounterFile::clear_global_ctrl() {
  global_ctrl_ = 0;
  derive();
}

CounterFile::Running CounterFile::with_event(Running running,
                                             const std::optional<EventDefinition>& event) const {
  if (!event) {
    running.kernel = running.user = false;
    return running;
  }
  running.rule = event->rule;
  running.per_cycle = event->rule.per_cycle;
  const CycleCondition condition{running.cmask, running.inv, running.edge, model_->core.issue_width};
  const auto cycles = running.equal ? std::nullopt : cycles_with(event->rule, condition);
  if (cycles) {
    running.rule = *cycles;
    running.per_cycle = 1;
    running.cmask = 0;
    running.inv = running.edge = false;
    return running;
  }
  running.only_slow_loads = event->rule.all.has(Signal::load_latency);
  running.only_of_some = running.rule.quantity != Quantity::none && !running.rule.any.empty();
  switch (event->rule.quantity) {
    case Quantity::cycles:
      running.source = Source::core_clock;
      break;
    case Quantity::slots:
      running.source = Source::core_clock;
      running.per_cycle = static_cast<u8>(model_->core.issue_width);
      break;
    case Quantity::reference_cycles: {
      // Fixed counter 2 runs at TSC rate on every part, the general-purpose event only on newer ones.
      const bool fixed = running.counter >= first_fixed;
      running.source = fixed || model_->reference_event_is_tsc ? Source::tsc : Source::bus_clock;
      break;
    }
    default:
      if (is_cycle_count(event->rule.quantity)) running.source = Source::lost_cycles;
      break;
  }
  return running;
}

CounterFile::Running CounterFile::decode_gp(unsigned n) const {
  using namespace msr;
  const u64 select = modifiers(n);
  Running running;
  running.counter = static_cast<u8>(n);
  const CycleCondition condition = cycle_condition(select, model_->core.issue_width);
  running.cmask = static_cast<u8>(condition.cmask);
  running.inv = condition.inv;
  running.edge = condition.edge;
  running.equal =
      (select & evtsel::EQ) != 0 && (running.cmask != 0 || model_->policies.evtsel_eq_without_cmask != 0);
  running.kernel = (select & evtsel::OS) != 0 && counts_in_mode(n);
  running.user = (select & evtsel::USR) != 0 && counts_in_mode(n);
  running.only_in_tx = (select & evtsel::IN_TX) != 0;
  running.of_core = shares_core_ && model_->anythread && (select & evtsel::ANY) != 0;
  running.only_slow_fetches = front_end::is_filtered(*model_, select & evtsel::EVENT) &&
                              front_end::selects_latency(filters_.front_end);
  return with_event(running, event(n));
}

/// AMD: with HostOnly or GuestOnly a counter counts while EFER.SVME is set, in that mode or with both in
/// either.
bool CounterFile::counts_in_mode(unsigned gp) const {
  if (model_->select != SelectLayout::wide_events) return true;
  const u64 select = event_select_[gp];
  const bool host = (select & msr::amd::ctl::HOST_ONLY) != 0,
             guest = (select & msr::amd::ctl::GUEST_ONLY) != 0;
  return (!host && !guest) || (filters_.svme && (filters_.in_guest ? guest : host));
}

/// AMD: the even counters whose next one has the event Merge, so that the two are one (PPR, merged counters).
u64 CounterFile::merged_pairs(u64 enabled) const {
  using msr::amd::ctl::MERGE;
  if (!model_->merges_counters()) return 0;
  u64 pairs = 0;
  for (unsigned n = 0; n + 1 < first_fixed; n += 2)
    if ((enabled & bit(n + 1)) != 0 && (event_select_[n + 1] & msr::evtsel::EN) != 0 &&
        (event_select_[n + 1] & MERGE) == MERGE)
      pairs |= bit(n);
  return pairs;
}

/// What one counter alone adds of events that occur more often in a cycle than it can count.
u8 CounterFile::most_in_cycle(const Running& running) const {
  constexpr u8 most_of_one_counter = 15;
  const bool is_large = model_->merges_counters() && is_large_increment(running.rule.quantity);
  return is_large && running.cmask == 0 ? most_of_one_counter : 0;
}

/// The register that an event's name implies a value of (docs/scheduling.md).
u64 CounterFile::event_filter(u64 event_select) const {
  const u64 event = field(event_select, 7, 0), umask = field(event_select, 15, 8);
  if (front_end::is_filtered(*model_, event)) return filters_.front_end;
  if (filters_.off_core == EventFilters{}.off_core) return 0;  // whichever it is
  const auto off_core = off_core_register(*model_, static_cast<u16>(event), static_cast<u16>(umask));
  return off_core ? filters_.off_core[*off_core] : 0;
}

std::vector<CountedEvent> CounterFile::counted_events() const {
  using namespace msr;
  std::vector<CountedEvent> events;
  for (const unsigned n : set_bits(derived_.running & low_bits(first_fixed)))
    if ((event_select_[n] & (evtsel::USR | evtsel::OS)) != 0)
      events.push_back({n, event_select_[n], event_filter(event_select_[n]), event(n)});
  for (const unsigned n : set_bits(derived_.running >> first_fixed))
    events.push_back({first_fixed + n, 0, 0, find_fixed_event(*model_, n)});
  return events;
}

bool CounterFile::has_slow_fetch(const Retirement& r) const {
  return r.quantities[static_cast<unsigned>(Quantity::slots_fetch_latency)] >=
         front_end::latency_slots(filters_.front_end, model_->core.issue_width);
}

bool CounterFile::has_slow_load(const Retirement& r) const {
  return std::any_of(r.memory.begin(), r.memory.end(), [&](const MemoryAccess& access) {
    return access.kind == AccessKind::load && access.latency_cycles > filters_.load_latency_cycles;
  });
}

CounterFile::Running CounterFile::decode_fixed(unsigned m) const {
  const u64 nibble = fixed_ctrl_ >> (4 * m);
  Running running;
  running.counter = static_cast<u8>(first_fixed + m);
  running.kernel = (nibble & msr::fixed_ctrl::OS) != 0;
  running.user = (nibble & msr::fixed_ctrl::USR) != 0;
  running.of_core = shares_core_ && model_->anythread && (nibble & msr::fixed_ctrl::ANY) != 0;
  return with_event(running, find_fixed_event(*model_, m));
}

const CounterFile::Running& CounterFile::decoded_gp(unsigned n) {
  Decoded& decoded = decoded_[n];
  if (decoded.control != event_select_[n]) decoded = {event_select_[n], decode_gp(n)};
  return decoded.running;
}

const CounterFile::Running& CounterFile::decoded_fixed(unsigned m) {
  Decoded& decoded = decoded_[first_fixed + m];
  using namespace msr::fixed_ctrl;
  const u64 control = fixed_ctrl_ >> (4 * m) & (OS | USR | ANY);
  if (decoded.control != control) decoded = {control, decode_fixed(m)};
  return decoded.running;
}

void CounterFile::Derived::start(const Running& counter) {
  running |= bit(counter.counter);
  if (!counter.kernel && !counter.user) return;
  const bool counts_at_retirement =
      counter.source == Source::occurrences || counter.source == Source::lost_cycles;
  if (counter.of_core) of_core |= bit(counter.counter);
  if (counts_at_retirement) retired.push_back(counter);
  if (counter.waits_for_cycle())
    (counter.of_core ? core_per_cycle : per_cycle).push_back(counter);
  else if (!counts_at_retirement)
    (counter.of_core ? core_clocked : clocked).push_back(counter);
}

void CounterFile::Derived::add_gp(CounterFile& file, u64 allowed) {
  using namespace msr::evtsel;
  for (const unsigned n : set_bits(file.model_->gp_counters)) {
    const u64 select = file.modifiers(n);
    if (select == 0) continue;
    if ((select & INT) != 0) interrupting |= bit(n);
    if ((select & ADAPTIVE) != 0) adaptive |= bit(n);
    if ((select & BR_CNTR) != 0) logged_by_lbr |= bit(n);
    if ((select & IN_TXCP) != 0) checkpointed |= bit(n);
    if ((select & EN) == 0 || (allowed & ~(merged << 1) & bit(n)) == 0) continue;
    Running counter = file.decoded_gp(n);
    if ((merged & bit(n)) == 0) counter.most_in_cycle = file.most_in_cycle(counter);
    start(counter);
  }
}

void CounterFile::Derived::count_instructions() {
  Running counter{.counter = instructions_retired, .kernel = true, .user = true};
  counter.rule.all = {Signal::instruction};
  retired.push_back(counter);
}

void CounterFile::Derived::add_fixed(CounterFile& file, u64 allowed) {
  using namespace msr::fixed_ctrl;
  if (file.fixed_ctrl_ == 0) return;
  for (const unsigned m : set_bits(file.model_->fixed_counters)) {
    const u64 control = file.fixed_ctrl_ >> (4 * m);
    if ((control & PMI) != 0) interrupting |= bit(first_fixed + m);
    if ((control & ADAPTIVE) != 0) adaptive |= bit(first_fixed + m);
    const bool enabled = (control & (OS | USR)) != 0;
    if (enabled && (allowed & bit(first_fixed + m)) != 0) start(file.decoded_fixed(m));
  }
  // The metrics divide up SLOTS: they follow its enable and its privilege filter.
  if ((allowed & msr::status::PERF_METRICS) == 0 || (running & bit(first_fixed + slots)) == 0) return;
  metrics_kernel = file.decoded_fixed(slots).kernel;
  metrics_user = file.decoded_fixed(slots).user;
  interrupting |= msr::status::PERF_METRICS;
}

void CounterFile::Derived::recompute(CounterFile& file) {
  const CpuModel& model = *file.model_;
  static_cast<DerivedMasks&>(*this) = {};
  for (RunningList* const list : {&retired, &clocked, &per_cycle, &core_clocked, &core_per_cycle})
    list->clear();
  const bool frozen = (file.status_ & msr::status::CTR_FRZ) != 0;
  const u64 allowed = frozen ? 0 : model.has_global_control() ? file.global_ctrl_ : model.counters();
  merged = file.merged_pairs(allowed & model.counters());
  add_gp(file, allowed);
  add_fixed(file, allowed);
  if ((file.hwcr_ & msr::amd::hwcr::IRPERF_EN) != 0) count_instructions();
  for (const unsigned counter : set_bits(model.has_arch_pebs() ? model.pebs.counters : 0))
    if ((file.cfg_c_[counter] & pebs::cfg_c::ENABLE) != 0) sampling |= bit(counter);
  const auto ticks_unevenly = [](const Running& r) {
    return r.source == Source::tsc || r.source == Source::bus_clock;
  };
  single_steps =
      std::ranges::any_of(per_cycle, ticks_unevenly) || std::ranges::any_of(core_per_cycle, ticks_unevenly);
  sees_cycles = !clocked.empty() || !per_cycle.empty() || !core_clocked.empty() || !core_per_cycle.empty();
  counts_lbr_inserts = std::any_of(retired.begin(), retired.end(), [](const Running& r) {
    return r.rule.all.has(Signal::lbr_insert) || r.rule.any.has(Signal::lbr_insert);
  });
  programming = file.fingerprint(*this);
}

void CounterFile::derive() {
  const u64 ran = derived_.running;
  derived_.recompute(*this);
  if (model_->policies.edge_history_at_enable == 0) was_satisfied_ &= ran;
  for (const unsigned n : set_bits(ran & ~derived_.running)) in_cycle_[n] = 0;
}

bool CounterFile::is_derived() const {
  CounterFile fresh = *this;
  fresh.decoded_ = {};
  fresh.derived_.recompute(fresh);
  return fresh.derived_ == derived_;
}

}  // namespace pmusim
