// SPDX-License-Identifier: MIT
// PEBS and the DS area; architectural PEBS has its own buffer registers (and CFG_C of the counters).
#include "pebs/pebs_unit.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim {
namespace {

bool has_arch_pebs(const CpuModel& m, unsigned) { return m.has_arch_pebs(); }
u64 outputs_to_pt(const CpuModel& m, unsigned) {
  return all_if(m.has_capability(msr::perf_cap::PEBS_OUTPUT_PT_AVAIL));
}
bool samples_fixed_counters(const CpuModel& m) { return (m.pebs.counters >> 32) != 0; }
bool enables_load_latency(const CpuModel& m) {
  return m.pebs.load_latency && m.perfmon_version < 5 && !samples_fixed_counters(m);
}

// IA32_PEBS_ENABLE: which counters write records.
constexpr Field enable_fields[] = {
    {bits(31, 0), "PMCn (bit n)", [](const CpuModel& m, unsigned) { return m.pebs.counters; }},
    {bits(59, 32), "FIXED_CTRm (bit 32 + m)", [](const CpuModel& m, unsigned) { return m.pebs.counters; }},
    {bits(59, 32), "load latency on PMCn (bit 32 + n)",
     [](const CpuModel& m, unsigned) { return enables_load_latency(m) ? m.pebs.counters << 32 : 0; }},
    {bit(60), "PMI after each record to PT", outputs_to_pt},
    {bits(62, 61), "output to PT", outputs_to_pt},
    {bit(63), "precise store", [](const CpuModel& m, unsigned) { return all_if(m.pebs.precise_store); }},
};

// MSR_PEBS_DATA_CFG: groups of adaptive records, for all counters alike.
u64 record_counters(const CpuModel& m, unsigned) { return all_if(pebs::stores_counters(m.pebs.format)); }
constexpr Field data_cfg_fields[] = {
    {pebs::data_cfg::MEMORY, "memory"},
    {pebs::data_cfg::GPRS, "GPRs"},
    {pebs::data_cfg::XMM, "XMM"},
    {pebs::data_cfg::LBR, "LBR"},
    {pebs::data_cfg::COUNTERS, "counters", record_counters},
    {pebs::data_cfg::METRICS, "metrics",
     [](const CpuModel& m, unsigned n) { return m.metrics_levels != 0 ? record_counters(m, n) : 0; }},
    {pebs::data_cfg::LBR_ENTRIES_LESS_1, "LBR entries - 1"},
    {pebs::data_cfg::INCLUDE_GP, "PMCn (bit 32 + n)",
     [](const CpuModel& m, unsigned n) { return record_counters(m, n) & u64{m.gp_counters} << 32; }},
    {pebs::data_cfg::INCLUDE_FIXED, "FIXED_CTRm (bit 48 + m)",
     [](const CpuModel& m, unsigned n) { return record_counters(m, n) & u64{m.fixed_counters} << 48; }},
};

constexpr Field ds_area_fields[] = {{~u64{0}, "linear address of the DS management area"}};
constexpr Field latency_fields[] = {{bits(15, 0), "core cycles"}};

// MSR_PEBS_FRONTEND, from Golden Cove on with two more bits of the event.
constexpr Field frontend_fields[] = {
    {bits(4, 0), "event",
     [](const CpuModel& m, unsigned) { return m.pebs.latency_split ? bits(4, 0) : u64{0x17}; }},
    {bits(19, 8), "latency in cycles"},
    {bits(22, 20), "bubble width"},
};

constexpr Field base_fields[] = {
    {pebs::base_register::SIZE, "size (4096 << n bytes)"},
    {pebs::base_register::ADDRESS & bits(51, 0), "physical address"},
};
constexpr Field index_fields[] = {
    {pebs::index_register::WRITE_OFFSET, "write offset in 16-byte units"},
    {pebs::index_register::FULL, "full"},
    {pebs::index_register::ENABLE, "enable"},
    {pebs::index_register::THRESHOLD, "threshold in 16-byte units"},
};
constexpr Field reload_fields[] = {
    {~u64{0}, "counter value after a record that went to PT",
     [](const CpuModel& m, unsigned) { return low_bits(m.counter_width); }},
};
template <unsigned first>
bool reloads_for_pt(const CpuModel& m, unsigned n) {
  return outputs_to_pt(m, n) != 0 && (m.pebs.counters & bit(first + n)) != 0;
}

}  // namespace

Rows<PebsUnit> PebsUnit::ds_registers() {
  using P = PebsUnit;
  static constexpr Row<P> rows[] = {
      {.address = msr::PEBS_ENABLE,
       .name = "IA32_PEBS_ENABLE",
       .exists = [](const CpuModel& m,
                    unsigned) { return pebs::is_fixed(m.pebs.format) || pebs::is_adaptive(m.pebs.format); },
       .fields = enable_fields,
       .read = read_word<&P::pebs_enable_>,
       .write = write_word<&P::pebs_enable_>},
      {.address = msr::PEBS_DATA_CFG,
       .name = "MSR_PEBS_DATA_CFG",
       .exists = [](const CpuModel& m,
                    unsigned) { return m.pebs.baseline && pebs::is_adaptive(m.pebs.format); },
       .fields = data_cfg_fields,
       .read = read_word<&P::data_cfg_>,
       .write = write_word<&P::data_cfg_>},
      // A linear address: one that is not canonical faults.
      {.address = msr::DS_AREA,
       .name = "IA32_DS_AREA",
       .exists = [](const CpuModel& m, unsigned) { return pebs::is_known(m.pebs.format); },
       .fields = ds_area_fields,
       .read = read_word<&P::ds_area_>,
       .write =
           [](P& p, At, u64 value) {
             if (!is_canonical(value)) return Fault::gp;
             p.ds_area_ = value;
             return Fault::none;
           },
       .takes = "a linear address must be canonical: bits 63:48 equal bit 47"},
      // What FRONTEND_RETIRED samples.
      {.address = msr::PEBS_FRONTEND,
       .name = "MSR_PEBS_FRONTEND",
       .exists = [](const CpuModel& m, unsigned) { return m.pebs.frontend; },
       .fields = frontend_fields,
       .read = read_word<&P::frontend_>,
       .write = write_word<&P::frontend_>},
      // Loads at or below this many cycles are not sampled.
      {.address = msr::PEBS_LD_LAT_THRESHOLD,
       .name = "MSR_PEBS_LD_LAT_THRESHOLD",
       .exists = [](const CpuModel& m, unsigned) { return m.pebs.load_latency; },
       .fields = latency_fields,
       .read = read_word<&P::latency_threshold_>,
       .write = write_word<&P::latency_threshold_>,
       .of_core = are_filters_of_core},
      {.address = msr::RELOAD_PMC0,
       .count = 8,
       .name = "MSR_RELOAD_PMC{}",
       .exists = reloads_for_pt<0>,
       .fields = reload_fields,
       .read = read_word<&P::reload_>,
       .write = write_word<&P::reload_>},
      {.address = msr::RELOAD_FIXED_CTR0,
       .count = 4,
       .name = "MSR_RELOAD_FIXED_CTR{}",
       .exists = reloads_for_pt<first_fixed>,
       .fields = reload_fields,
       .read = read_word<&P::reload_, first_fixed>,
       .write = write_word<&P::reload_, first_fixed>},
  };
  return rows;
}

Rows<PebsUnit> PebsUnit::arch_registers() {
  using P = PebsUnit;
  static constexpr Row<P> rows[] = {
      // Physical address and size of the buffer.
      {.address = msr::PEBS_BASE,
       .name = "IA32_PEBS_BASE",
       .exists = has_arch_pebs,
       .fields = base_fields,
       .read = read_word<&P::base_>,
       .write = write_word<&P::base_>},
      // Where the next record goes, and when to interrupt.
      {.address = msr::PEBS_INDEX,
       .name = "IA32_PEBS_INDEX",
       .exists = has_arch_pebs,
       .fields = index_fields,
       .read = read_word<&P::index_>,
       .write = write_word<&P::index_>},
  };
  return rows;
}

RowFamilies<PebsUnit> PebsUnit::registers(Vendor vendor) {
  if (vendor == Vendor::amd) return {};
  return {ds_registers(), arch_registers()};
}

}  // namespace pmusim
