#include "pmusim/arch/pebs_records.h"
#include "pmusim/pebs/pebs_unit.h"

namespace pmusim {

namespace {

constexpr u64 to_processor_trace = bits(62, 60);  // PEBS_ENABLE: output select and PMI after each record

bool has_ds(const CpuModel& m, unsigned) { return m.pebs.format != PebsFeatures::none; }
bool has_ds_pebs(const CpuModel& m, unsigned) { return m.pebs.format <= 6; }
bool has_arch_pebs(const CpuModel& m, unsigned) { return m.has_arch_pebs(); }
bool outputs_to_pt(const CpuModel& m) { return m.has_capability(msr::perf_cap::PEBS_OUTPUT_PT_AVAIL); }

u64 pebs_enable_bits(const CpuModel& m, unsigned) {
  u64 writable = m.pebs.counters;
  const bool fixed_counters_sample = (m.pebs.counters >> 32) != 0;
  if (m.pebs.load_latency && m.perfmon_version < 5 && !fixed_counters_sample)
    writable |= m.pebs.counters << 32;  // LL_EN
  if (m.pebs.precise_store) writable |= bit(63);
  if (outputs_to_pt(m)) writable |= to_processor_trace;
  return writable;
}

u64 data_cfg_bits(const CpuModel& m, unsigned) {
  using namespace pebs::data_cfg;
  u64 writable = MEMORY | GPRS | XMM | LBR | LBR_ENTRIES_LESS_1;
  if (m.pebs.format == 6) {
    writable |= COUNTERS | to_field(m.gp_counters, 47, 32) | to_field(m.fixed_counters, 55, 48);
    if (m.metrics_levels != 0) writable |= METRICS;
  }
  return writable;
}

}  // namespace

struct PebsRegisters {
  /// A register that is plain storage.
  template <auto member>
  static constexpr RegisterSpec storage(u32 address, std::string_view name) {
    RegisterSpec spec;
    spec.address = address;
    spec.name = name;
    spec.owner = Unit::pebs;
    spec.read = read_as<PebsUnit, [](const PebsUnit& u, unsigned) { return u.*member; }>;
    spec.write = write_as<PebsUnit, [](PebsUnit& u, unsigned, u64 value) {
      u.*member = value;
      return Fault::none;
    }>;
    return spec;
  }

  /// A counter that loses its enable while its assist waits never gets the record.
  static Fault write_enable(PebsUnit& u, unsigned, u64 value) {
    u.pebs_enable_ = value;
    u.overflowed_ &= value;
    return Fault::none;
  }

  static Fault write_ds_area(PebsUnit& u, unsigned, u64 value) {
    if (!is_canonical(value)) return Fault::gp;
    u.ds_area_ = value;
    return Fault::none;
  }

  template <unsigned first>
  static constexpr RegisterSpec reload_row(u32 address, u16 count, std::string_view name) {
    RegisterSpec spec;
    spec.address = address;
    spec.count = count;
    spec.name = name;
    spec.owner = Unit::pebs;
    spec.exists = [](const CpuModel& m, unsigned i) {
      return outputs_to_pt(m) && (m.pebs.counters & bit(first + i)) != 0;
    };
    spec.writable = [](const CpuModel& m, unsigned) { return low_bits(m.counter_width); };
    spec.read = read_as<PebsUnit, [](const PebsUnit& u, unsigned i) { return u.reload_[first + i]; }>;
    spec.write = write_as<PebsUnit, [](PebsUnit& u, unsigned i, u64 value) {
      u.reload_[first + i] = value;
      return Fault::none;
    }>;
    spec.bits = "counter value after a record that went to PT";
    return spec;
  }

  static std::array<RegisterSpec, 9> rows() {
    // IA32_PEBS_ENABLE: which counters write records. n GP, 32+n load latency or fixed counter, 63 precise
    // store, 62:60 output to PT.
    RegisterSpec enable = storage<&PebsUnit::pebs_enable_>(msr::PEBS_ENABLE, "IA32_PEBS_ENABLE");
    enable.exists = has_ds_pebs;
    enable.writable = pebs_enable_bits;
    enable.write = write_as<PebsUnit, write_enable>;
    enable.bits = "n GP n, 32+m fixed m or load latency on GP m, 62:60 output to PT, 63 precise store";

    // MSR_PEBS_DATA_CFG: groups of adaptive records, for all counters alike.
    RegisterSpec data_cfg = storage<&PebsUnit::data_cfg_>(msr::PEBS_DATA_CFG, "MSR_PEBS_DATA_CFG");
    data_cfg.exists = [](const CpuModel& m, unsigned) {
      return m.pebs.baseline && m.pebs.format >= 4 && m.pebs.format <= 6;
    };
    data_cfg.writable = data_cfg_bits;
    data_cfg.bits =
        "0 memory, 1 GPRs, 2 XMM, 3 LBR, 4 counters, 5 metrics, 31:24 LBR entries - 1, 47:32 and 55:48 "
        "counters to store";

    // IA32_DS_AREA: linear address of the management area; a non-canonical one faults.
    RegisterSpec ds_area = storage<&PebsUnit::ds_area_>(msr::DS_AREA, "IA32_DS_AREA");
    ds_area.exists = has_ds;
    ds_area.writable = [](const CpuModel&, unsigned) { return ~u64{0}; };
    ds_area.write = write_as<PebsUnit, write_ds_area>;
    ds_area.bits = "linear address of the DS management area";

    // MSR_PEBS_LD_LAT_THRESHOLD: loads at or below this many cycles are not sampled.
    RegisterSpec latency =
        storage<&PebsUnit::latency_threshold_>(msr::PEBS_LD_LAT_THRESHOLD, "MSR_PEBS_LD_LAT_THRESHOLD");
    latency.exists = [](const CpuModel& m, unsigned) { return m.pebs.load_latency; };
    latency.writable = [](const CpuModel&, unsigned) { return bits(15, 0); };
    latency.bits = "15:0 core cycles";

    // MSR_PEBS_FRONTEND: what FRONTEND_RETIRED samples.
    RegisterSpec frontend = storage<&PebsUnit::frontend_>(msr::PEBS_FRONTEND, "MSR_PEBS_FRONTEND");
    frontend.exists = [](const CpuModel& m, unsigned) { return m.pebs.frontend; };
    frontend.writable = [](const CpuModel& m, unsigned) -> u64 {
      return m.pebs.latency_split ? 0x7FFF1F : 0x7FFF17;  // Golden Cove on / Skylake, Ice Lake
    };
    frontend.bits = "4:0 event, 19:8 latency in cycles, 22:20 bubble width";

    // IA32_PEBS_BASE: physical address and size of the architectural buffer.
    RegisterSpec base = storage<&PebsUnit::base_>(msr::PEBS_BASE, "IA32_PEBS_BASE");
    base.exists = has_arch_pebs;
    base.writable = [](const CpuModel&, unsigned) {
      return (pebs::base_register::ADDRESS & bits(51, 0)) | pebs::base_register::SIZE;
    };
    base.bits = "3:0 size (4096 << n bytes), 51:12 physical address";

    // IA32_PEBS_INDEX: where the next record goes, and when to interrupt.
    RegisterSpec index = storage<&PebsUnit::index_>(msr::PEBS_INDEX, "IA32_PEBS_INDEX");
    index.exists = has_arch_pebs;
    index.writable = [](const CpuModel&, unsigned) {
      using namespace pebs::index_register;
      return WRITE_OFFSET | FULL | ENABLE | THRESHOLD;
    };
    index.bits = "26:4 write offset, 31 full, 32 enable, 58:36 threshold, both in 16-byte units";

    return {enable,
            data_cfg,
            ds_area,
            latency,
            frontend,
            base,
            index,
            reload_row<0>(msr::RELOAD_PMC0, 8, "MSR_RELOAD_PMC{}"),
            reload_row<first_fixed>(msr::RELOAD_FIXED_CTR0, 4, "MSR_RELOAD_FIXED_CTR{}")};
  }
};

std::span<const RegisterSpec> PebsUnit::registers() {
  static const std::array<RegisterSpec, 9> rows = PebsRegisters::rows();
  return rows;
}

}  // namespace pmusim
