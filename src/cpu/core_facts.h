// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CORE_FACTS_H
#define PMUSIM_CPU_CORE_FACTS_H

#include <bit>
#include <optional>
#include <span>
#include <string_view>

#include "cpu/generic_events.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// Whether a product's PEBS can be used at all (Merom's cannot: AJ67 to AJ69, AJ106).
enum class PebsErrata : u8 { none, unusable };

/// CPUID display family and model of a product that has the core. On a hybrid a P core and an Atom name the
/// same one.
struct Product {
  u32 family = 6, model = 0;
  PebsErrata pebs = PebsErrata::none;
};

/// A product's name that people know, for one of the core's presets.
struct ProductName {
  std::string_view name, model;
};

/// A model of a product, or of one core of it: what it is called, and what its instructions cost. Its columns
/// of the tables say the rest (`tables/`).
struct Preset {
  std::string_view name;      ///< what --model takes, and the tables call it
  std::string_view title;     ///< "Ice Lake"
  std::string_view pfm_name;  ///< libpfm4's PMU; empty: it knows none
  std::string_view costs;     ///< the column of `tables/costs/` with what instructions cost on it
};

/// Event select bits that stand for those generic events whose encoding is not the same on every core. 0: the
/// core has none.
struct GenericEncodings {
  static constexpr u64 no_uops = u64{1} << 24 | bit(23);  ///< CMASK 1, INV
  static constexpr u64 tsc_cycles = 0x013C, pseudo_event = 0x0300;
  u64 reference_cycles = pseudo_event;  ///< 3C.01 from where on it counts at TSC rate
  u64 frontend_stalls = 0, backend_stalls = 0;
  u64 hidden_mispredicts = 0;  ///< stands in where the architectural event is hidden (Nehalem: AAJ80)
};

/// A generic event of a core that has no architectural events.
struct GenericRow {
  GenericEvent event;
  u64 config;  ///< event select bits
};

/// How an event names what other agents answered to the core's requests: OFFCORE_RSP and OMR registers.
/// Requests are bits 0 to 2 everywhere: data reads, reads for ownership, code reads.
struct OffCoreLayout {
  struct Code {
    u16 event = 0;
    u16 umask = 0;
  };
  u16 event = 0;       ///< 0: the core has no such event that is modelled
  u16 umasks = 0x01;   ///< one bit per register
  Code second;         ///< the same event through OFFCORE_RSP_1
  u64 prefetches = 0;  ///< requests that prefetchers send, of which the core does not tell what answers them
  u64 any = 0;         ///< any response: the other response bits do not matter
  u64 hits = 0;        ///< supplied by the last-level cache, in any state; 0: there is none
  u64 hit_states = 0;  ///< of those, all that must be set: in which state lines are is not known
  u64 misses = 0;      ///< supplied by the local memory
  /// One of these must be set as well: what snoops of other caches find for a lone core's lines, in the
  /// last-level cache and in memory. 0: the register has no such field.
  u64 hit_snoops = 0, miss_snoops = 0;
  /// What snoops of other cores' caches bring for lines of the last-level cache: beside several cores, all of
  /// these are asked for, or hits are not counted. 0: not known.
  u64 all_snoops = 0;
  u64 under_way = 0;  ///< cycles in which there are such requests, not requests

  /// Number of the register (OFFCORE_RSP_0 and 1, OMR_0 to 3) that selects what the event counts, or nothing.
  std::optional<unsigned> register_of(u16 event_code, u16 umask) const {
    if (event_code == 0) return std::nullopt;
    if (event_code == event && std::has_single_bit(umask) && (umask & umasks) != 0)
      return static_cast<unsigned>(std::countr_zero(umask));
    const bool is_second = event_code == second.event && umask == second.umask;
    return is_second ? std::optional(1u) : std::nullopt;
  }
};

struct PebsEvent {
  static constexpr u16 any_umask = 0x100;
  u16 event = 0;
  u16 umask = any_umask;
};

/// Which events PEBS takes on general counters of a product without adaptive records.
struct PebsEvents {
  enum class Kind : u8 {
    none,
    any,
    of_instructions,  ///< what instructions raise as they retire; not what is counted in cycles or slots
    listed,
  };
  Kind kind = Kind::of_instructions;
  std::span<const PebsEvent> listed{};
};

/// What perf's last-level events write into the register of off-core responses.
struct LastLevelValues {
  u64 read = 0, read_miss = 0, write = 0, write_miss = 0;
};

/// perf's last-level events where `cache_events` does not have them right for all products and releases.
struct LastLevelEvents {
  u16 event = 0;  ///< umask and event
  /// CPUID display models of the products; empty: all that no row before names.
  std::span<const u32> models{};
  CacheTable::Edition edition = CacheTable::Edition::first;  ///< and later ones
  LastLevelValues values{};
};

/// What is true of a microarchitecture in all products that have it. What differs between them is in their
/// `CpuModel`s.
struct CoreFacts {
  Microarchitecture core = Microarchitecture::unknown;
  CoreType type = CoreType::core;
  std::span<const Product> products{};
  std::span<const ProductName> names{};
  std::span<const Preset> presets{};

  /// The vendor events that the core model can honestly produce, architectural and fixed-counter events
  /// included. Rows of one event and umask that differ in CMASK, INV or EDGE are one hardware event under
  /// several names and have the same rule.
  std::span<const EventDefinition> events{};
  GenericEncodings generic{};
  /// All generic events of a core without architectural ones (AMD's); empty elsewhere.
  std::span<const GenericRow> generic_rows{};
  std::span<const CacheEvent> cache_events{};
  /// perf's cache events of other nodes are reads: writes and prefetches make no sense.
  bool node_is_read_only = false;
  std::span<const LastLevelEvents> last_level{};  ///< the first row that fits goes before `cache_events`
  std::span<const NamedEncoding> named_events{};  ///< of memory sampling and topdown analysis
  OffCoreLayout off_core{};
  PebsEvents pebs_events{};
  /// Umasks of event 00 that drivers give a fixed counter, bit n for umask n. Elsewhere such an event lands
  /// on a general counter, on which event 00 counts nothing.
  u32 fixed_codes = 1u << 3;
};

inline constexpr u32 p_core_fixed_codes = 1u << 1 | 1u << 3 | 1u << 4;

/// Those of `unknown` are what every part with architectural perfmon has.
const CoreFacts& core_facts(Microarchitecture core);

/// `register_of` with the layout of the model's core. Quick for events that no core counts in this way, as
/// every write of an event select asks; which core a model is takes a search.
std::optional<unsigned> off_core_register(const CpuModel& model, u16 event, u16 umask);

}  // namespace pmusim

#endif
