// SPDX-License-Identifier: MIT
#include <algorithm>

#include "arch/misc_enable.h"
#include "cpu/core_facts.h"
#include "driver/intel/cores/core_traits.h"
#include "driver/intel/linux_view.h"
#include "driver/x86/linux_changes.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {
namespace {

constexpr u32 leaf_features = 1, leaf_extended = 7, leaf_perfmon = 0xA, leaf_core_type = 0x1A,
              leaf_lbr = 0x1C, leaf_perfmon_ext = 0x23;

/// Asks only leaves that the CPU has: a leaf beyond the highest answers with some other leaf's data.
class CpuidReader {
 public:
  explicit CpuidReader(Bus& bus) : bus_(bus), highest_(bus.cpuid(0, 0).eax) {}
  CpuidResult operator()(u32 leaf, u32 subleaf = 0) const {
    return leaf <= highest_ ? bus_.cpuid(leaf, subleaf) : CpuidResult{};
  }

 private:
  Bus& bus_;
  u32 highest_;
};

void read_signature(Enumeration& e, u32 signature) {
  const u32 family = static_cast<u32>(field(signature, 11, 8));
  e.family = family == 0xF ? family + static_cast<u32>(field(signature, 27, 20)) : family;
  e.model = static_cast<u32>(field(signature, 7, 4));
  if (family == 6 || family == 0xF) e.model |= static_cast<u32>(field(signature, 19, 16)) << 4;
  e.stepping = signature & 0xF;
}

void identify_core(Enumeration& e, const CpuidReader& cpuid) {
  constexpr u32 type_atom = 0x20;
  const ProductCores cores = product_cores(e.family, e.model);
  const u32 core_type = cpuid(leaf_core_type).eax;
  e.atom = cores.hybrid() ? (core_type >> 24) == type_atom : core_facts(cores.core).type == CoreType::atom;
  e.microarchitecture = e.atom ? cores.atom : cores.core;
  const LowPowerCore& other = traits_of(e.microarchitecture).low_power;
  e.low_power = other.native_model_id != 0 && field(core_type, 23, 0) == other.native_model_id;
  if (e.low_power) e.microarchitecture = other.core;
}

/// Whether a release knows the core and the product (docs/perf-abi-notes.md).
bool is_known_to(perf::Kernel kernel, const Enumeration& e) {
  const CoreTraits& core = traits_of(e.microarchitecture);
  const ProductTraits product = product_traits(core, e.model);
  return (!core.since || perf::has(kernel, *core.since)) && kernel >= product.since &&
         (!product.until || kernel < *product.until);
}

u32 fixed_counters_of_leaf_a(const Enumeration& e, const CpuidResult& leaf) {
  if (e.perfmon_version < 2) return 0;
  if (e.perfmon_version >= 5) return leaf.ecx;
  // Early parts leave the count at zero or one and still have three; a hypervisor means what it says.
  const unsigned least = e.hypervisor ? 0 : 3;
  return static_cast<u32>(low_bits(std::max(least, leaf.edx & 0x1F)));
}

void read_perfmon_leaf(Enumeration& e, const CpuidReader& cpuid) {
  const CpuidResult leaf = cpuid(leaf_perfmon);
  e.perfmon_version = leaf.eax & 0xFF;
  e.counter_width = static_cast<unsigned>(field(leaf.eax, 23, 16));
  e.any_thread = e.perfmon_version >= 3 && (leaf.edx & bit(15)) == 0;
  e.arch_events = static_cast<u32>(~leaf.ebx & low_bits(leaf.eax >> 24));
  e.counters =
      low_bits(static_cast<unsigned>(field(leaf.eax, 15, 8))) | u64{fixed_counters_of_leaf_a(e, leaf)} << 32;
}

/// Leaf 0AH of a hybrid describes what all its cores have in common. Before leaf 23H drivers knew better.
void correct_hybrid_counters(Enumeration& e) {
  const u64 counters = traits_of(e.microarchitecture).hybrid_counters;
  if (counters != 0) e.counters = counters;
}

void read_perfmon_ext_leaf(Enumeration& e, const CpuidReader& cpuid) {
  const CpuidResult main = cpuid(leaf_perfmon_ext);
  const auto has = [&](unsigned subleaf) { return (main.eax & bit(subleaf)) != 0; };
  e.perfmon_ext = main.ebx;
  if (has(1)) {
    const CpuidResult counters = cpuid(leaf_perfmon_ext, 1);
    e.counters = counters.eax | u64{counters.ebx} << 32;
  }
  if (has(2)) {
    const CpuidResult acr = cpuid(leaf_perfmon_ext, 2);
    e.acr_reloadable = acr.eax | u64{acr.ebx} << 32;
    e.acr_cause = acr.ecx | u64{acr.edx} << 32;
  }
  if (has(3)) e.arch_events = cpuid(leaf_perfmon_ext, 3).eax;
  if (has(4) && has(5)) {
    e.pebs_format = Enumeration::arch_pebs_format;
    e.pebs_arch_capabilities = u64{cpuid(leaf_perfmon_ext, 4).ebx} << 32;
    const CpuidResult pebs = cpuid(leaf_perfmon_ext, 5);
    e.pebs_counters = pebs.eax | u64{pebs.ecx} << 32;
    e.pebs_distribution = pebs.ebx | u64{pebs.edx} << 32;
  }
}

/// PEBS-capable counters of a part with the DS area.
u64 ds_pebs_counters(const Enumeration& e) {
  switch (traits_of(e.microarchitecture).pebs.counters) {
    case DsPebs::Counters::first:
      return e.counters & 1;
    case DsPebs::Counters::first_four:
      return e.pebs_baseline ? e.counters : e.counters & 0xF;
    case DsPebs::Counters::all:
      return e.counters;
  }
  return 0;
}

void read_ds_pebs(Enumeration& e, Bus& bus) {
  if (e.arch_pebs() || !e.has_ds || e.perfmon_version < 2) return;
  if (has_unreliable_pebs(e.family, e.model)) return;
  const auto misc_enable = bus.rdmsr(msr::MISC_ENABLE);
  if (!misc_enable.ok() || (*misc_enable & msr::misc_enable::PEBS_UNAVAILABLE) != 0) return;
  const auto format = static_cast<unsigned>(field(e.perf_capabilities, 11, 8));
  e.pebs_baseline = !pebs::is_fixed(format) && (e.perf_capabilities & msr::perf_cap::PEBS_BASELINE) != 0;
  e.pebs_counters = ds_pebs_counters(e);
  e.pebs_distribution = traits_of(e.microarchitecture).pebs.distribution & e.pebs_counters;
  if (e.pebs_counters != 0) e.pebs_format = format;
}

/// Branch trace store, with the bits that keep a privilege level out of it.
void read_bts(Enumeration& e, const CpuidResult& features, Bus& bus) {
  constexpr u32 ds_cpl = 1u << 4;
  const auto misc_enable = bus.rdmsr(msr::MISC_ENABLE);
  e.has_bts = e.has_ds && (features.ecx & ds_cpl) != 0 && misc_enable.ok() &&
              (*misc_enable & msr::misc_enable::BTS_UNAVAILABLE) == 0;
}

/// Raptor Lake's and Meteor Lake's larger cores have metrics that their registers do not show.
bool hides_metrics(u32 model) {
  constexpr u32 models[] = {0xB7, 0xBA, 0xBF, 0xAA, 0xAC};
  return std::ranges::find(models, model) != std::end(models);
}

void read_capabilities(Enumeration& e, Bus& bus) {
  if (const auto value = bus.rdmsr(msr::PERF_CAPABILITIES); value.ok()) e.perf_capabilities = *value;
  // Before Lunar Lake a hybrid's register shows what all its cores have; only the P cores have metrics, and
  // all of them do.
  if (!e.hybrid || traits_of(e.microarchitecture).has_own_capabilities) return;
  if (perf::has(e.kernel, change::capabilities_as_each_core_reads)) {
    if (!e.atom && hides_metrics(e.model)) e.perf_capabilities |= msr::perf_cap::PERF_METRICS;
    return;
  }
  e.perf_capabilities &= ~msr::perf_cap::PERF_METRICS;
  if (!e.atom) e.perf_capabilities |= msr::perf_cap::PERF_METRICS;
}

void read_lbr(Enumeration& e, const CpuidReader& cpuid) {
  e.lbr_format = static_cast<unsigned>(field(e.perf_capabilities, 5, 0));
  if (!e.arch_lbr) {
    const CoreTraits& core = traits_of(e.microarchitecture);
    // An LBR that does not freeze on a PMI holds the handler's own branches when it is read.
    const bool freezes = e.stepping >= product_traits(core, e.model).lbr_since_stepping;
    e.lbr_entries = freezes ? core.lbr.entries : 0;
    return;
  }
  e.lbr_leaf = cpuid(leaf_lbr);
  const u32 depths = e.lbr_leaf.eax & 0xFF;
  e.lbr_entries = depths == 0 ? 0 : 8 * static_cast<unsigned>(std::bit_width(depths));
  if (e.lbr_entries == 0) e.arch_lbr = false;
}

}  // namespace

Enumeration enumerate(Bus& bus, perf::Kernel kernel) {
  const CpuidReader cpuid(bus);
  Enumeration e;
  e.kernel = kernel;
  const CpuidResult features = cpuid(leaf_features);
  const CpuidResult extended = cpuid(leaf_extended);
  const bool has_pdcm = (features.ecx & bit(15)) != 0;
  e.hybrid = (extended.edx & bit(15)) != 0;
  e.hypervisor = (features.ecx & bit(31)) != 0;
  e.has_ds = (features.edx & bit(21)) != 0 && (features.ecx & bit(2)) != 0;
  e.hle = (extended.ebx & bit(4)) != 0;
  e.rtm = (extended.ebx & bit(11)) != 0;
  e.tsx_force_abort = (extended.edx & bit(13)) != 0;
  e.arch_lbr = (extended.edx & bit(19)) != 0;
  read_signature(e, features.eax);
  identify_core(e, cpuid);
  if (!is_known_to(kernel, e)) e.microarchitecture = Microarchitecture::unknown;
  read_perfmon_leaf(e, cpuid);
  if (e.hybrid) correct_hybrid_counters(e);
  const bool has_perfmon_ext = (cpuid(leaf_extended, 1).eax & bit(8)) != 0;
  const bool known_hybrid = e.hybrid && e.microarchitecture != Microarchitecture::unknown;
  if (has_perfmon_ext && (known_hybrid || has(kernel, change::perfmon_ext_of_all)))
    read_perfmon_ext_leaf(e, cpuid);
  if (has_pdcm) read_capabilities(e, bus);
  read_ds_pebs(e, bus);
  read_bts(e, features, bus);
  read_lbr(e, cpuid);
  return as_seen_by(kernel, e);
}

}  // namespace pmusim::driver
