// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_CORE_TRAITS_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_CORE_TRAITS_H

#include <optional>

#include "driver/intel/enumeration.h"
#include "driver/intel/lbr/lbr.h"
#include "driver/intel/scheduling/constraint_rows.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// Where in the PMI handler the local APIC's entry is unmasked again. Late keeps a still unserviced overflow
/// from interrupting a second time.
enum class PmiAck : u8 { early, middle, late };

/// Shortest periods that a core counts reliably (Linux: x86_pmu.limit_period).
enum class PeriodRule : u8 { none, nehalem, haswell, broadwell, reduced_skid };

/// What a core adds to its tables for precise and transactional events (x86_pmu.get_event_constraints).
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
/// retire width, which is true in each cycle (intel_pebs_aliases_*).
enum class CyclesAlias : u8 { none, core2, sandy_bridge, ivy_bridge, skylake };

/// An MSR that one event needs beside its select, possibly shared with the sibling thread.
struct ExtraRegisterRow {
  u16 event = 0;  ///< umask and event
  u32 address = 0;
  u64 valid = 0;              ///< bits that the MSR takes
  unsigned alternatives = 0;  ///< rows with the same non-zero number can stand in for each other
};

/// An event whose records tell of a memory access.
struct MemoryEvent {
  u16 code = 0;  ///< umask and event
  u16 mask = 0;  ///< what of them is compared
  u32 kind = 0;  ///< pebs_flag
};

/// PEBS that works on the DS area and does not enumerate its counters.
struct DsPebs {
  enum class Counters : u8 {
    first,
    first_four,  ///< with hyper-threading off too; all where records are adaptive
    all,
  };
  Counters counters = Counters::first_four;
  /// Counters whose precise samples come without a shadow. Linux does not use Sandy Bridge's.
  u64 distribution = 0;
};

/// LBR that is not enumerated in CPUID.
struct LegacyLbr {
  unsigned entries = 32;
  BranchFilterMap filter = BranchFilterMap::haswell;
  bool core_style_addresses = false;  ///< registers 40H and 60H
  bool has_unsaid_flags = false;      ///< says plain addresses (1) and has the mispredict flag all the same
  bool double_abort = false;          ///< an abort is recorded twice
};

/// In what one of the core's products differs from the others.
struct ProductTraits {
  u32 model = 0;
  perf::Kernel since = perf::Kernel::v6_12;  ///< releases before it do not know the product
  std::optional<perf::Kernel> until{};       ///< it and later ones do not know the product
  bool persistent_memory = false;            ///< server parts: codes 8 and 9 of data sources are PMEM
  unsigned lbr_since_stepping = 0;           ///< before it the LBR does not freeze on a PMI
  std::span<const ExtraRegisterRow> extra_registers{};  ///< instead of the core's
};

/// Another core that CPUID gives the same model to.
struct LowPowerCore {
  u32 native_model_id = 0;  ///< CPUID.1AH:EAX[23:0]; 0: there is none
  Microarchitecture core = Microarchitecture::unknown;
};

/// What later releases have in place of the tables.
struct LaterTables {
  ConstraintTables constraints{};
  std::span<const ExtraRegisterRow> extra_registers{};  ///< empty: as before
};

/// What the driver takes a microarchitecture for: facts that CPUID does not enumerate.
struct CoreTraits {
  Microarchitecture core = Microarchitecture::unknown;
  ConstraintTables constraints{};
  PlacementRule placement = PlacementRule::none;
  PeriodRule period = PeriodRule::none;
  CyclesAlias alias = CyclesAlias::none;
  PmiAck ack = PmiAck::early;
  bool pebs_on_all_counters = false;    ///< a precise event without a PEBS row takes its main row
  bool exclusive_counters = false;      ///< hyper-threading erratum of events D0-D3
  bool shares_extra_registers = false;  ///< the threads of a core have one of each; else each has its own
  u16 load_latency_companion = 0;       ///< load latency with its data source needs this event before it
  std::span<const ExtraRegisterRow> extra_registers{};
  std::span<const MemoryEvent> memory_events{};
  DataSourceEncoding data_source = DataSourceEncoding::none;
  bool splits_latency = false;  ///< memory groups have instruction and access latency
  DsPebs pebs{};
  LegacyLbr lbr{};
  bool has_own_capabilities =
      false;                ///< PERF_CAPABILITIES of a hybrid: this core's, not what all cores share
  u64 hybrid_counters = 0;  ///< on a hybrid, where leaf 0AH understates and leaf 23H is missing
  LowPowerCore low_power{};
  /// Selects that the counters must have counted before they count rightly, a counter each.
  std::span<const u64> counter_exercise{};
  std::span<const ConstraintRow> constraints_before_version_5{};  ///< of parts that are not known
  std::optional<perf::Change> since{};  ///< releases without it do not know the core
  std::span<const ProductTraits> products{};
  std::optional<LaterTables> corrected{};  ///< since change::corrected_tables
};

/// Of one microarchitecture, whatever the product.
const CoreTraits& traits_of(Microarchitecture core);
/// Of one product. A core that is not known has architectural events alone.
CoreTraits core_traits(const Enumeration& enumeration);
/// In what the product differs from others with its core; all defaults if in nothing.
ProductTraits product_traits(const CoreTraits& core, u32 model);

/// Events of the core PMU: the ones that need a counter.
bool is_hardware_event(const perf::Event& event);

/// The row whose selector (event and umask) is that of `config`, or null.
const ExtraRegisterRow* find_extra_register(std::span<const ExtraRegisterRow> rows, u64 config);

}  // namespace pmusim::driver

#endif
