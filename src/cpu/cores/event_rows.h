// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_EVENT_ROWS_H
#define PMUSIM_SRC_CPU_CORES_EVENT_ROWS_H

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "pmusim/cpu/model.h"

/// The words that event tables are written in: `row(name, event, umask, rule)`, rules, and `join` for tables
/// that are made of parts which several microarchitectures share.
namespace pmusim::event_rows {

using Q = Quantity;
using enum Signal;

/// Once at an instruction with this signal.
constexpr EventRule on(Signal s) { return {.all = {s}}; }
/// Once at an instruction with any of these signals.
constexpr EventRule on_any(SignalSet signals) { return {.any = signals}; }
/// Once at an instruction with one signal and not the other.
constexpr EventRule on_but_not(Signal s, Signal other) { return {.all = {s}, .none = {other}}; }
/// Once at a load that L3 answered and for which no other core was asked.
constexpr EventRule on_unshared_l3_hit() {
  return {.all = {load_l3_hit},
          .none = {load_snoop_miss, load_snoop_hit, load_snoop_forward, load_snoop_modified}};
}
/// Once at a pair of a comparison and a branch that are one uop: at its second.
constexpr EventRule on_fused_pair() { return {.all = {macro_fused, conditional}}; }
/// As many times as the quantity says.
constexpr EventRule sum(Q quantity, u8 per_cycle = 1) {
  return {.quantity = quantity, .per_cycle = per_cycle};
}

/// As many times as several quantities say.
constexpr EventRule sum_of(std::initializer_list<Q> quantities) {
  EventRule rule{.quantity = *quantities.begin()};
  for (std::size_t n = 1; n < quantities.size(); ++n) rule.plus[n - 1] = quantities.begin()[n];
  return rule;
}
/// As many times as one quantity says, without those that another says, which is a part of it.
constexpr EventRule sum_but_not(Q quantity, Q part) { return {.quantity = quantity, .minus = part}; }
/// Once at an instruction with all of these signals.
constexpr EventRule on_all(SignalSet signals) { return {.all = signals}; }

/// Floating-point work in SSE registers.
inline constexpr SignalSet fp_of_128_bits{fp_scalar_single, fp_scalar_double, fp_packed_128_single,
                                          fp_packed_128_double};

/// Of what this core does not do: its count is 0, and known.
constexpr EventRule never() { return {.all = {instruction}, .none = {instruction}}; }

constexpr EventDefinition row(std::string_view name, u16 event, u16 umask, EventRule rule) {
  return {.name = name, .event = event, .umask = umask, .rule = rule};
}
/// A row whose name implies the value of the event's extra register.
constexpr EventDefinition with_extra(u64 extra, EventDefinition r) {
  r.extra = extra;
  return r;
}
/// Rows whose names imply a CMASK: cycles with at least that many, with fewer, or the beginnings of such
/// runs.
constexpr EventDefinition at_least(u8 cmask, EventDefinition r) {
  r.cmask = cmask;
  return r;
}
constexpr EventDefinition fewer_than(u8 cmask, EventDefinition r) {
  r.cmask = cmask;
  r.inv = true;
  return r;
}
constexpr EventDefinition begins(EventDefinition r) {
  r.cmask = 1;
  r.edge = true;
  return r;
}

/// One table from several.
template <class Row, std::size_t... Sizes>
constexpr auto join(const std::array<Row, Sizes>&... parts) {
  std::array<Row, (Sizes + ...)> whole{};
  std::size_t next = 0;
  const auto append = [&](const auto& part) {
    for (const Row& r : part) whole[next++] = r;
  };
  (append(parts), ...);
  return whole;
}

}  // namespace pmusim::event_rows

#endif
