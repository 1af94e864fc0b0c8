#ifndef PMUSIM_SRC_DRIVER_CORE_TRAITS_H
#define PMUSIM_SRC_DRIVER_CORE_TRAITS_H

#include "constraint_rows.h"
#include "pmusim/driver/enumeration.h"
#include "pmusim/perf/event.h"

namespace pmusim::driver {

/// Where in the PMI handler the local APIC's entry is unmasked again. Late keeps a still unserviced overflow
/// from interrupting a second time.
enum class PmiAck : u8 { early, middle, late };

/// Shortest periods that a core counts reliably (reference 5.2).
enum class PeriodRule : u8 { none, nehalem, haswell, broadwell, reduced_skid };

/// What a core adds to its tables for precise and transactional events (reference 4.2).
enum class PlacementRule : u8 {
  none,
  haswell,
  ice_lake,
  golden_cove,
  redwood_cove,
  goldmont_plus,
  tremont,
  crestmont
};

/// How "cycles" becomes an event that PEBS can sample: a retirement count inverted with a threshold above the
/// retire width, which is true in each cycle (msr.md 2.3).
enum class CyclesAlias : u8 { none, core2, sandy_bridge, ivy_bridge, skylake };

/// An MSR that one event needs beside its select, possibly shared with the sibling thread.
struct ExtraRegisterRow {
  u16 event = 0;  ///< umask and event
  u32 address = 0;
  u64 valid = 0;              ///< bits that the MSR takes
  unsigned alternatives = 0;  ///< rows with the same non-zero number can stand in for each other
};

/// Facts about a core that CPUID does not enumerate.
struct CoreTraits {
  const ConstraintTables* tables = nullptr;
  PlacementRule placement = PlacementRule::none;
  PeriodRule period = PeriodRule::none;
  CyclesAlias alias = CyclesAlias::none;
  PmiAck ack = PmiAck::early;
  bool pebs_on_all_counters = false;    ///< a precise event without a PEBS row takes its main row
  bool exclusive_counters = false;      ///< hyper-threading erratum of events D0-D3
  bool load_latency_companion = false;  ///< load latency with its data source needs event 03/82 before it
  std::span<const ExtraRegisterRow> extra_registers{};
};

CoreTraits core_traits(const Enumeration& enumeration);

/// Events of the core PMU: the ones that need a counter.
bool is_hardware_event(const perf::Event& event);

/// The row whose selector (event and umask) is that of `config`, or null.
const ExtraRegisterRow* find_extra_register(std::span<const ExtraRegisterRow> rows, u64 config);

}  // namespace pmusim::driver

#endif
