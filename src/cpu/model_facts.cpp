// SPDX-License-Identifier: MIT
#include "cpu/model_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "pmusim/arch/debug_store.h"

namespace pmusim {
namespace {

using enum FactOrigin;
using Known = ModelFact::Known;

// --- what a fact says ------------------------------------------------------------------------------------

std::string family_and_model(const CpuModel& m) { return fmt::format("{:02X}_{:02X}", m.family, m.model); }

std::string counters(const CpuModel& m) {
  std::string text = fmt::format("perfmon {}, {} general", m.perfmon_version, std::popcount(m.gp_counters));
  if (m.fixed_counters != 0) text += fmt::format(", fixed {:#x}", m.fixed_counters);
  return text + fmt::format(", {} bits", m.counter_width);
}

std::string architectural_events(const CpuModel& m) { return fmt::format("{:#x}", m.arch_events); }

std::string freeze(const CpuModel& m) {
  if (m.perfmon_version < 2) return {};
  return m.freeze == FreezeStyle::legacy ? "enables cleared" : "CTR_FRZ, LBR_FRZ";
}

std::string branch_records(const CpuModel& m) {
  return m.lbr.depth == 0 ? ""
                          : fmt::format("{} of format {:#x}", m.lbr.depth, static_cast<u32>(m.lbr.format));
}

std::string pebs_format(const CpuModel& m) {
  if (!pebs::is_known(m.pebs.format)) return {};
  return m.has_arch_pebs() ? "architectural" : fmt::format("{}", m.pebs.format);
}

std::string pebs_counters(const CpuModel& m) {
  return pebs::is_known(m.pebs.format) ? fmt::format("{:#x}", m.pebs.counters) : "";
}

/// What records hold beyond the general registers: by the groups of CPUID.23H.4, or the one of adaptive
/// records.
std::string pebs_registers(const CpuModel& m) {
  using namespace pebs::cfg_c;
  if (!m.has_arch_pebs()) return pebs::is_adaptive(m.pebs.format) && m.pebs.baseline ? "XMM" : "";
  constexpr std::pair<u64, std::string_view> groups[] = {{XMM, "XMM"},   {YMMH, "YMMH"},
                                                         {EGPR, "EGPR"}, {OPMASK, "OPMASK"},
                                                         {ZMMH, "ZMMH"}, {HI16_ZMM, "HI16_ZMM"}};
  std::string text;
  for (const auto& [group, name] : groups)
    if ((m.pebs_groups() & group) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

std::string distribution(const CpuModel& m) {
  return m.pebs.distribution == 0 ? "" : fmt::format("{:#x}", m.pebs.distribution);
}

std::string reload(const CpuModel& m) {
  return m.acr.cause == 0 ? "" : fmt::format("{:#x} by {:#x}", m.acr.reloadable, m.acr.cause);
}

std::string metrics(const CpuModel& m) {
  return m.metrics_levels == 0 ? "" : fmt::format("level {}", m.metrics_levels);
}

std::string capabilities(const CpuModel& m) {
  return m.has_pdcm ? fmt::format("{:#x}", m.perf_capabilities) : "";
}

std::string components(const CpuModel& m) {
  return m.xcr0 == 0 ? "" : fmt::format("XCR0 {:#x}, XSS {:#x}", m.xcr0, m.xss);
}

std::string events(const CpuModel& m) {
  return m.pfm_name.empty() ? "a table of their own" : fmt::format("named as libpfm4's {}", m.pfm_name);
}

// --- how it is known -------------------------------------------------------------------------------------

constexpr Known families[] = {{driven, "*"}};

constexpr Known counting_leaf[] = {
    {dumped,
     "yonah core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell "
     "skylake skylake-x cascadelake "
     "cannonlake icelake icelake-server tigerlake rocketlake goldencove "
     "sapphirerapids emeraldrapids redwoodcove "
     "graniterapids lioncove cougarcove bonnell silvermont knightslanding goldmont "
     "goldmont-plus tremont gracemont "
     "crestmont skymont darkmont"},
    {logged, "arrowlake-h arrowlake-h-atom"}};

constexpr Known freezing[] = {{documented, "*"}};  // goes with the version of perfmon

constexpr Known branch_stack[] = {{dumped,
                                   "sapphirerapids graniterapids redwoodcove arrowlake-h lioncove cougarcove "
                                   "crestmont arrowlake-h-atom skymont "
                                   "darkmont"},
                                  {documented,
                                   "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell "
                                   "skylake skylake-x cascadelake cannonlake "
                                   "icelake icelake-server tigerlake rocketlake goldencove emeraldrapids "
                                   "bonnell silvermont knightslanding goldmont "
                                   "goldmont-plus tremont gracemont sierraforest"}};

constexpr Known record_format[] = {
    {dumped, "cougarcove darkmont"},
    {logged, "icelake tigerlake goldencove gracemont arrowlake-h arrowlake-h-atom lioncove skymont"},
    {documented,
     "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell skylake skylake-x cascadelake "
     "goldmont "
     "goldmont-plus tremont"}};

constexpr Known record_counters[] = {{dumped, "cougarcove darkmont"},
                                     {documented,
                                      "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell "
                                      "skylake skylake-x cascadelake icelake "
                                      "bonnell silvermont goldmont goldmont-plus tremont"},
                                     {driven,
                                      "icelake-server tigerlake rocketlake goldencove sapphirerapids "
                                      "emeraldrapids redwoodcove graniterapids lioncove "
                                      "gracemont crestmont skymont"}};

constexpr Known record_registers[] = {{dumped, "cougarcove darkmont"},
                                      {documented,
                                       "icelake icelake-server tigerlake rocketlake tremont goldencove "
                                       "sapphirerapids emeraldrapids gracemont"}};

constexpr Known precise_counters[] = {{dumped, "cougarcove darkmont"},
                                      {documented,
                                       "sandybridge ivybridge haswell broadwell skylake skylake-x "
                                       "cascadelake icelake goldmont-plus tremont goldencove "
                                       "sapphirerapids"}};

constexpr Known reloading[] = {{dumped, "skymont darkmont"}};

constexpr Known topdown[] = {
    {documented, "icelake icelake-server tigerlake rocketlake goldencove sapphirerapids emeraldrapids"},
    {driven, "redwoodcove graniterapids lioncove arrowlake-h cougarcove"}};

constexpr Known capability_bits[] = {{computed, "*"}};

constexpr Known extended_state[] = {
    {dumped, "skylake skylake-x tigerlake emeraldrapids graniterapids cougarcove darkmont lioncove skymont"}};

constexpr Known event_lists[] = {
    {listed,
     "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell skylake skylake-x cascadelake "
     "icelake "
     "icelake-server goldencove sapphirerapids bonnell silvermont knightslanding goldmont tremont yonah"}};

constexpr std::array fact_rows{
    ModelFact{"family_model", "Linux, intel-family.h", family_and_model, families},
    ModelFact{"counters", "CPUID.0AH, CPUID.23H.1", counters, counting_leaf},
    ModelFact{"architectural_events", "CPUID.0AH:EBX, CPUID.23H.3", architectural_events, counting_leaf},
    ModelFact{"freeze", "SDM vol. 3, freezing on PMI", freeze, freezing},
    ModelFact{"branch_records", "SDM vol. 3, last branch records; CPUID.1CH", branch_records, branch_stack},
    ModelFact{"pebs_format", "PERF_CAPABILITIES[11:8]; CPUID.23H.4", pebs_format, record_format},
    ModelFact{"pebs_counters", "SDM vol. 3, PEBS; Linux, intel_pmu_init; CPUID.23H.5", pebs_counters,
              record_counters},
    ModelFact{"pebs_registers", "CPUID.23H.4; SDM vol. 3, adaptive PEBS; policy pebs_vector_groups",
              pebs_registers, record_registers},
    ModelFact{"precise_distribution", "SDM vol. 3, PDIR and PDIST; CPUID.23H.5", distribution,
              precise_counters},
    ModelFact{"counter_reload", "CPUID.23H.2", reload, reloading},
    ModelFact{"topdown_metrics", "SDM vol. 3, PERF_METRICS; Linux, intel_pmu_init", metrics, topdown},
    ModelFact{"perf_capabilities", "SDM vol. 4, MSR 345H, from the fields above", capabilities,
              capability_bits},
    ModelFact{"extended_state", "CPUID.0DH", components, extended_state},
    ModelFact{"events", "libpfm4; docs/events.md", events, event_lists},
};

bool lists(std::string_view models, std::string_view wanted) {
  for (std::size_t at = models.find(wanted); at != models.npos; at = models.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    if ((at == 0 || models[at - 1] == ' ') && (end == models.size() || models[end] == ' ')) return true;
  }
  return false;
}

struct Word {
  std::string_view name, meaning;
};

constexpr std::array<Word, 7> origins{{
    {"dumped", "CPUID as a part gives it"},
    {"logged", "what a kernel said at boot on the part"},
    {"documented", "Intel's manual"},
    {"driven", "what Linux' driver takes the part for"},
    {"listed", "the vendor's events as libpfm4 has them; a test compares"},
    {"computed", "follows from other facts of the model"},
    {"inferred", "taken over from the nearest relative"},
}};

constexpr std::array<Word, 7> sources{{
    {"none", "a row that says nothing"},
    {"measured", "on silicon: InstLatX64, Travis Downs' buffer sizes, uiCA's fits"},
    {"cpuid", "what a part says of itself in CPUID"},
    {"published", "by the vendor, or by the press from the vendor's slides"},
    {"compiler", "LLVM's scheduling model"},
    {"recalled", "common knowledge without a document at hand"},
    {"inferred", "taken over from the nearest relative"},
}};

}  // namespace

std::string_view name_of(FactOrigin origin) { return origins[static_cast<u8>(origin)].name; }
std::string_view meaning_of(FactOrigin origin) { return origins[static_cast<u8>(origin)].meaning; }
std::string_view name_of(FactSource source) { return sources[static_cast<u8>(source)].name; }
std::string_view meaning_of(FactSource source) { return sources[static_cast<u8>(source)].meaning; }

FactOrigin ModelFact::origin_of(std::string_view model) const {
  const auto found = std::ranges::find_if(
      known, [&](const Known& row) { return row.models == "*" || lists(row.models, model); });
  return found == known.end() ? inferred : found->origin;
}

std::span<const ModelFact> model_facts() { return fact_rows; }

}  // namespace pmusim
