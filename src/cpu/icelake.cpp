#include "pmusim/cpu/event_tables.h"
#include "presets.h"

namespace pmusim::presets {

/// Sunny Cove: eight counters per logical processor, TOPDOWN.SLOTS in fixed counter 3, PERF_METRICS, adaptive
/// PEBS on every counter.
CpuModel icelake() {
  CpuModel m;
  m.name = "icelake";
  m.title = "Ice Lake";
  m.pfm_name = "icl";
  m.model = 0x7E;
  m.stepping = 5;
  m.perfmon_version = 5;
  m.gp_counters = 0xFF;
  m.fixed_counters = 0xF;
  m.arch_events = 0xFF;
  m.arch_events_length = 8;
  m.perf_capabilities = 0xF4C5;
  m.freeze = FreezeStyle::streamlined;
  m.metrics_levels = 1;
  m.has_tsc_adjust = m.has_pperf = true;
  m.offcore_rsp = {0x3FFFFFBFFF, 0x3FFFFFBFFF};
  m.xcr0 = 0x2E7;
  m.has_xsaves = true;
  m.lbr = {
      .depth = 32, .format = LbrFormat::info, .has_select = true, .call_stack = true, .from_base = 0x680};
  m.pebs = {.format = 4,
            .counters = 0xFF | fixed(0xF),
            .distribution = fixed(1),
            .baseline = true,
            .load_latency = true,
            .frontend = true,
            .frontend_mask = 0x7FFF17,
            .eventing_ip = true,
            .data_source = DataSourceEncoding::skylake};
  m.events = event_table(Microarchitecture::ice_lake);
  m.core.retire_width = 5;
  m.core.l1d = {48 * kib, 12, 64, 5};
  m.core.l2 = {512 * kib, 8, 64, 13};
  m.core.l3 = {8 * mib, 16, 64, 42};
  m.core.stlb_entries = 2048;
  m.core.outstanding_misses = 12;
  return m;
}

CpuModel icelake_server() {
  CpuModel m = icelake();
  m.name = "icelake-server";
  m.title = "Ice Lake server";
  m.pfm_name = "icx";
  m.model = 0x6A;
  m.stepping = 6;
  m.rtm = m.hle = true;
  m.core.l2 = {1280 * kib, 20, 64, 14};
  m.core.l3 = {48 * mib, 12, 64, 70};
  return m;
}

}  // namespace pmusim::presets
