// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_RESOLVE_H
#define PMUSIM_SRC_EVENTS_RESOLVE_H

#include <optional>
#include <string>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/perf/abi.h"

namespace pmusim::events {

/// Whether a trace has the addresses of data accesses. Without them no cache or TLB event can be produced.
enum class DataAddresses : u8 { recorded, missing };

/// Whether a trace has the program's own code, or code that stands for it and only branches, loads and stores
/// as it did (trace::Contents::stand_in_code).
enum class TracedCode : u8 { own, stand_in };

/// Whose time a replay goes by: the core model's, which knows what each cycle was lost to, or recorded time,
/// which says how long a block took (trace::Contents::timing).
enum class TimeSource : u8 { core_model, recorded };

/// What a trace has beside control flow, and how much of a core it is replayed on.
struct Traced {
  DataAddresses addresses = DataAddresses::recorded;
  TracedCode code = TracedCode::own;
  TimeSource time = TimeSource::core_model;
  CoreLevel core = CoreLevel::interval;
};

/// A PMU event of an attribute on one model.
struct ResolvedEvent {
  EventDefinition definition;    ///< named after the row whose CMASK, INV and EDGE are those asked for
  u64 config = 0;                ///< event select bits: event, umask, EDGE, INV, CMASK
  u64 extra = 0;                 ///< value for its extra register
  bool in_transactions = false;  ///< counted in transactions alone (IN_TX, IN_TXCP)
};

/// Software events are the perf core's and not the PMU's.
bool is_pmu_event(const perf::Attr& attr);

/// What a hardware, hardware-cache or raw attribute counts on this model.
///
/// Refused with a sentence: a generic event that the part does not have, an event that no table of the model
/// has, an event nobody knows.
[[nodiscard]] Result<ResolvedEvent, Error> identify(const CpuModel& model, const perf::Attr& attr);

/// Whether it is a generic (hardware or hardware-cache) event that Linux has, and has no encoding of on this
/// model's core: open fails with ENOENT, and perf stat shows it as not supported.
bool is_absent(const CpuModel& model, const perf::Attr& attr);

/// Why no replay of any trace can count an event that the model knows, in a sentence, or nothing. It needs a
/// signal that the core never raises, or a transaction.
std::optional<std::string> replay_refusal(const CpuModel& model, const ResolvedEvent& event);

/// identify(), for an event that is to be counted over a trace. Refused beyond what identify() refuses:
/// replay_refusal(), and an event that needs what this trace or this core lacks. None of them is ever counted
/// as 0.
[[nodiscard]] Result<ResolvedEvent, Error> resolve(const CpuModel& model, const perf::Attr& attr,
                                                   const Traced& traced = {});

/// Whether the event can only be known from data addresses.
bool needs_data_addresses(const EventRule& rule);

/// Whether the event counts something that only the program's own code can tell.
bool needs_own_code(const EventRule& rule);

/// Whether the event counts what cycles were lost to, or what fell into the same cycle.
bool needs_modelled_time(const ResolvedEvent& event);

/// Whether a core of this level knows how often the event occurs.
bool is_known_at(CoreLevel core, const ResolvedEvent& event);

/// Whether the event occurs as often however long everything takes (pmusim/cpu/setup.h).
bool follows_from_order(const ResolvedEvent& event);

}  // namespace pmusim::events

#endif
