// SPDX-License-Identifier: MIT
#include "live/cpuinfo.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "arch/misc_enable.h"
#include "session/cpu_description.h"

namespace pmusim::live {
namespace {

/// A bit of CPUID, by the name that Linux has for it.
struct CpuidFlag {
  std::string_view name;
  u32 leaf = 0, subleaf = 0;
  u32 CpuidResult::*word = nullptr;
  unsigned number = 0;
};
/// In the order in which Linux prints them.
constexpr std::array cpuid_flags{
    CpuidFlag{"tsc", 1, 0, &CpuidResult::edx, 4},
    CpuidFlag{"msr", 1, 0, &CpuidResult::edx, 5},
    CpuidFlag{"apic", 1, 0, &CpuidResult::edx, 9},
    CpuidFlag{"clflush", 1, 0, &CpuidResult::edx, 19},
    CpuidFlag{"dts", 1, 0, &CpuidResult::edx, 21},
    CpuidFlag{"rdtscp", 0x80000001, 0, &CpuidResult::edx, 27},
    CpuidFlag{"lm", 0x80000001, 0, &CpuidResult::edx, 29},
    CpuidFlag{"aperfmperf", 6, 0, &CpuidResult::ecx, 0},
    CpuidFlag{"dtes64", 1, 0, &CpuidResult::ecx, 2},
    CpuidFlag{"ds_cpl", 1, 0, &CpuidResult::ecx, 4},
    CpuidFlag{"pdcm", 1, 0, &CpuidResult::ecx, 15},
    CpuidFlag{"x2apic", 1, 0, &CpuidResult::ecx, 21},
    CpuidFlag{"xsave", 1, 0, &CpuidResult::ecx, 26},
    CpuidFlag{"extapic", 0x80000001, 0, &CpuidResult::ecx, 3},
    CpuidFlag{"ibs", 0x80000001, 0, &CpuidResult::ecx, 10},
    CpuidFlag{"perfctr_core", 0x80000001, 0, &CpuidResult::ecx, 23},
    CpuidFlag{"ibrs", 7, 0, &CpuidResult::edx, 26},
    CpuidFlag{"ibpb", 7, 0, &CpuidResult::edx, 26},
    CpuidFlag{"ibpb", 0x80000008, 0, &CpuidResult::ebx, 12},
    CpuidFlag{"perfmon_v2", 0x80000022, 0, &CpuidResult::eax, 0},
    CpuidFlag{"tsc_adjust", 7, 0, &CpuidResult::ebx, 1},
    CpuidFlag{"hle", 7, 0, &CpuidResult::ebx, 4},
    CpuidFlag{"rtm", 7, 0, &CpuidResult::ebx, 11},
    CpuidFlag{"xsaveopt", 0xD, 1, &CpuidResult::eax, 0},
    CpuidFlag{"xsavec", 0xD, 1, &CpuidResult::eax, 1},
    CpuidFlag{"xgetbv1", 0xD, 1, &CpuidResult::eax, 2},
    CpuidFlag{"xsaves", 0xD, 1, &CpuidResult::eax, 3},
    CpuidFlag{"irperf", 0x80000008, 0, &CpuidResult::ebx, 1},
    CpuidFlag{"brs", 0x80000008, 0, &CpuidResult::ebx, 31},
    CpuidFlag{"bus_lock_detect", 7, 0, &CpuidResult::ecx, 24},
    CpuidFlag{"arch_lbr", 7, 0, &CpuidResult::edx, 19},
    CpuidFlag{"amd_lbr_v2", 0x80000022, 0, &CpuidResult::eax, 1},
    CpuidFlag{"amd_lbr_pmc_freeze", 0x80000022, 0, &CpuidResult::eax, 2},
};

std::string flags_of(const CpuModel& model) {
  std::string flags = "fpu cx8 cmov mmx fxsr sse sse2 syscall";  // what every x86-64 CPU has
  for (const CpuidFlag& flag : cpuid_flags)
    if ((cpuid(model, flag.leaf, flag.subleaf).*flag.word >> flag.number & 1) != 0)
      flags.append(" ").append(flag.name);
  // What Linux concludes: architectural counters, and from MISC_ENABLE that a DS area can be used.
  const u32 counters = cpuid(model, 0xA, 0).eax >> 8 & 0xFF;
  if (counters > 1) flags += " arch_perfmon";
  const bool has_ds = (cpuid(model, 1, 0).edx & bit(21)) != 0;
  if (!has_ds) return flags;
  if ((model.misc_enable & msr::misc_enable::PEBS_UNAVAILABLE) == 0) flags += " pebs";
  if ((model.misc_enable & msr::misc_enable::BTS_UNAVAILABLE) == 0) flags += " bts";
  return flags;
}

/// Of the last level.
u32 cache_bytes(const CoreParameters& core) { return core.l3.bytes != 0 ? core.l3.bytes : core.l2.bytes; }

double mega(double value) { return value / 1e6; }

/// What the cores of a hybrid machine have of each other, as their TSC, nobody has chosen.
std::string name_of(const Topology& machine, const CpuModel& model) {
  return machine.hybrid() ? "pmusim " + model.title : cpu_description(model, StartState::cold);
}

class CpuText {
 public:
  void add(std::string_view name, std::string_view value) {
    constexpr std::size_t tab = 8;
    text_ += fmt::format("{}{}: {}\n", name, name.size() < tab ? "\t\t" : "\t", value);
  }
  void add(std::string_view name, u64 value) { add(name, fmt::format("{}", value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(const Topology& machine, u32 number) {
  const LogicalCpu& cpu = machine.cpus[number];
  const CpuModel& model = machine.model(number);
  u64 siblings = 0;
  std::set<u32> cores;
  for (const u32 other : machine.online()) {
    if (machine.cpus[other].package != cpu.package) continue;
    ++siblings;
    cores.insert(machine.cpus[other].core);
  }
  const CpuidResult addresses = cpuid(model, 0x80000008, 0);
  const CoreParameters& core = model.core;
  const double tsc_hz = static_cast<double>(core.tsc_hz);
  const u64 flushed_bytes = (cpuid(model, 1, 0).ebx >> 8 & 0xFF) * 8;
  CpuText text;
  text.add("processor", number);
  text.add("vendor_id", cpuid_name(model.vendor));
  text.add("cpu family", model.family);
  text.add("model", model.model);
  text.add("model name", name_of(machine, model));
  text.add("stepping", model.stepping);
  text.add("microcode", fmt::format("{:#x}", model.microcode_revision));
  text.add("cpu MHz", fmt::format("{:.3f}", mega(tsc_hz * core.tsc_per_core_cycle_denominator /
                                                 core.tsc_per_core_cycle_numerator)));
  text.add("cache size", fmt::format("{} KB", cache_bytes(core) / 1024));
  text.add("physical id", cpu.package);
  text.add("siblings", siblings);
  text.add("core id", cpu.core);
  text.add("cpu cores", cores.size());
  for (const char* name : {"apicid", "initial apicid"}) text.add(name, number);
  for (const char* name : {"fpu", "fpu_exception"}) text.add(name, "yes");
  text.add("cpuid level", cpuid(model, 0, 0).eax);
  text.add("wp", "yes");
  text.add("flags", flags_of(model));
  text.add("bogomips", fmt::format("{:.2f}", mega(2 * tsc_hz)));
  text.add("clflush size", flushed_bytes);
  text.add("cache_alignment", flushed_bytes);
  if (addresses.eax != 0)
    text.add("address sizes", fmt::format("{} bits physical, {} bits virtual", addresses.eax & 0xFF,
                                          addresses.eax >> 8 & 0xFF));
  return text.text() + "power management:\n\n";
}

}  // namespace

std::string cpuinfo(const Topology& machine) {
  std::string text;
  for (const u32 cpu : machine.online()) text += text_of(machine, cpu);
  return text;
}

}  // namespace pmusim::live
