// SPDX-License-Identifier: MIT
#include "events/vendor.h"

#include <perfmon/pfmlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

#include "base/letters.h"
#include "cpu/core_facts.h"
#include "events/vendor_lists.h"

namespace pmusim::events {
namespace {

/// The bits of an event select that describe the event; libpfm4 adds privilege levels, INT and EN.
constexpr u64 event_bits = 0xFF84'FFFF | u64{0xFF} << 40;

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = upper(c);
  return result;
}

/// libpfm4 encodes for CPUs other than the one it runs on only if this variable says so, and reads it once.
bool library_ready() {
  static const bool ready = [] {
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    return pfm_initialize() == PFM_SUCCESS;
  }();
  return ready;
}

std::vector<pfm_pmu_info_t> library_pmus() {
  std::vector<pfm_pmu_info_t> pmus;
  for (int pmu = PFM_PMU_NONE; library_ready() && pmu < PFM_PMU_MAX; ++pmu) {
    pfm_pmu_info_t info{};
    info.size = sizeof info;
    if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(pmu), &info) == PFM_SUCCESS) pmus.push_back(info);
  }
  return pmus;
}

std::optional<pfm_pmu_info_t> find_pmu(std::string_view name) {
  static const std::vector<pfm_pmu_info_t> pmus = library_pmus();
  const auto found =
      std::ranges::find(pmus, name, [](const pfm_pmu_info_t& pmu) { return std::string_view(pmu.name); });
  return found == pmus.end() ? std::nullopt : std::optional(*found);
}

std::optional<VendorEvent> encode(const std::string& pmu, const std::string& event) {
  const std::string qualified = pmu + "::" + event;
  pfm_pmu_encode_arg_t encoding{};
  encoding.size = sizeof encoding;
  if (pfm_get_os_event_encoding(qualified.c_str(), PFM_PLM3, PFM_OS_NONE, &encoding) != PFM_SUCCESS)
    return std::nullopt;
  VendorEvent result;
  result.name = event;
  std::ranges::replace(result.name, ':', '.');
  if (encoding.count > 0) result.config = encoding.codes[0] & event_bits;
  if (encoding.count > 1) result.config1 = encoding.codes[1];
  std::free(encoding.codes);
  return result;
}

/// Unit masks of an event, in libpfm4's order.
std::vector<pfm_event_attr_info_t> unit_masks(const pfm_event_info_t& event) {
  std::vector<pfm_event_attr_info_t> masks;
  for (int i = 0; i < event.nattrs; ++i) {
    pfm_event_attr_info_t attribute{};
    attribute.size = sizeof attribute;
    if (pfm_get_event_attr_info(event.idx, i, PFM_OS_NONE, &attribute) == PFM_SUCCESS &&
        attribute.type == PFM_ATTR_UMASK)
      masks.push_back(attribute);
  }
  return masks;
}

/// Some tables have a placeholder where words are still missing.
std::string words_of(const char* text) { return equal_without_case(text, "TBD") ? "" : text; }

/// The words of an event without unit masks are its own; where it has some, newer tables give it those of
/// the first, so that only the unit mask's own say anything.
std::string words_for(const pfm_event_info_t& event, std::string umask) {
  const auto masks = unit_masks(event);
  if (masks.empty()) return umask.empty() ? words_of(event.desc) : "";
  std::ranges::replace(umask, '.', '_');
  const auto found = std::ranges::find_if(masks, [&](const auto& mask) { return umask == mask.name; });
  return found == masks.end() ? "" : words_of(found->desc);
}

std::string description_of(const pfm_pmu_info_t& pmu, std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view event_name = name.substr(0, dot);
  for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
    pfm_event_info_t event{};
    event.size = sizeof event;
    if (pfm_get_event_info(i, PFM_OS_NONE, &event) != PFM_SUCCESS || event_name != event.name) continue;
    return words_for(event, dot == name.npos ? "" : std::string(name.substr(dot + 1)));
  }
  return {};
}

/// The ways libpfm4 may spell a dotted name: the first dot parts event and umask, further ones are part of
/// the umask's name or part it into several.
std::vector<std::string> library_spellings(std::string name) {
  const std::size_t first = name.find_first_of(".:");
  if (first == name.npos) return {name};
  name[first] = ':';
  std::string joined = name, parted = name;
  std::replace(joined.begin() + static_cast<std::ptrdiff_t>(first) + 1, joined.end(), '.', '_');
  std::ranges::replace(parted, '.', ':');
  return {joined, parted};
}

/// The event that a fixed counter has in common with the general ones, by the fixed counter's name. perf's
/// own tables say so for instructions and cycles (jevents.py), drivers' constraint tables for topdown events.
/// Others, as INST_RETIRED.PREC_DIST and SLOTS, have event 00 alone.
std::optional<u64> code_beside_fixed_counter(const EventDefinition& row) {
  constexpr std::pair<std::string_view, u64> codes[] = {
      {"INST_RETIRED.ANY", 0x00C0},      {"CPU_CLK_UNHALTED.THREAD", 0x003C},
      {"CPU_CLK_UNHALTED.CORE", 0x003C}, {"TOPDOWN_BAD_SPECULATION.ALL", 0x0073},
      {"TOPDOWN_FE_BOUND.ALL", 0x019C},  {"TOPDOWN_RETIRING.ALL", 0x02C2},
  };
  if (row.event != 0) return std::nullopt;
  const auto found = std::ranges::find(codes, row.name, &std::pair<std::string_view, u64>::first);
  return found == std::end(codes) ? std::nullopt : std::optional(found->second);
}

bool is_off_core_response(std::string_view event) {
  return event.starts_with("OFFCORE_RESPONSE") || event.starts_with("OCR");
}

void append_event(const pfm_pmu_info_t& pmu, const pfm_event_info_t& event, std::vector<VendorEvent>& to) {
  const auto add = [&](const std::string& name, const char* description) {
    if (auto encoded = encode(pmu.name, name)) {
      encoded->description = words_of(description);
      to.push_back(std::move(*encoded));
    }
  };
  const auto masks = unit_masks(event);
  for (const pfm_event_attr_info_t& mask : masks) add(std::string(event.name) + ":" + mask.name, mask.desc);
  if (masks.empty()) add(event.name, event.desc);
}

}  // namespace

u64 event_select_bits(const EventDefinition& row) {
  if (const auto code = code_beside_fixed_counter(row)) return *code;
  const u64 event = (row.event & u64{0xFF}) | u64{row.event} >> 8 << 32;  // above FF they are AMD's
  return event | (row.umask & u64{0xFF}) << 8 | u64{row.umask} >> 8 << 40 | u64{row.edge} << 18 |
         u64{row.inv} << 23 | u64{row.cmask} << 24;
}

std::string describe(const CpuModel& model, std::string_view name) {
  const auto own = find_pmu(model.pfm_name);
  if (own) return description_of(*own, name);
  const bool atom = model.core_type == CoreType::atom;
  for (const std::string_view other :
       atom ? std::array{"tmt", "glm", "slm"} : std::array{"spr", "icl", "skl"})
    if (const auto pmu = find_pmu(other)) {
      if (std::string description = description_of(*pmu, name); !description.empty()) return description;
    }
  return {};
}

namespace {

/// An off-core event whose value is composed from its name.
std::optional<VendorEvent> find_off_core_name(const CpuModel& model, std::string_view name) {
  const OffCoreLayout& layout = core_facts(model.microarchitecture()).off_core;
  const auto value = vendor_lists::off_core_value(vendor_lists::list_of(model), name);
  if (!value || layout.event == 0) return std::nullopt;
  constexpr u64 first_register = 0x0100;
  return VendorEvent{upper_case(name), layout.event | first_register, *value, {}};
}

/// Event 00 stands for a fixed counter; of instructions and cycles general counters count the same.
u64 general_code(u64 config) { return config == 0x0100 ? 0x00C0 : config == 0x0200 ? 0x003C : config; }

std::optional<VendorEvent> find_listed_name(const CpuModel& model, std::string_view name) {
  const vendor_lists::Lists list = vendor_lists::list_of(model);
  const auto names = vendor_lists::names();
  const auto found = std::ranges::find_if(names, [&](const vendor_lists::Name& n) {
    return (n.lists & list) != 0 && equal_without_case(n.name, name);
  });
  if (found == names.end()) return std::nullopt;
  return VendorEvent{std::string(found->name), general_code(found->config), found->extra, {}};
}

}  // namespace

std::vector<VendorEvent> listed_events(const CpuModel& model) {
  std::vector<VendorEvent> events;
  const vendor_lists::Lists list = vendor_lists::list_of(model);
  for (const vendor_lists::Name& n : vendor_lists::names())
    if ((n.lists & list) != 0) events.push_back({std::string(n.name), general_code(n.config), n.extra, {}});
  return events;
}

std::optional<VendorEvent> find_vendor_event(const CpuModel& model, std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, ':', '.');
  if (auto off_core = find_off_core_name(model, dotted)) return off_core;
  const auto pmu = find_pmu(model.pfm_name);
  const auto row = std::ranges::find_if(
      model.events, [&](const EventDefinition& r) { return equal_without_case(r.name, dotted); });
  if (row != model.events.end())
    return VendorEvent{std::string(row->name), event_select_bits(*row), row->extra, {}};
  if (auto listed = find_listed_name(model, dotted)) return listed;
  if (!pmu) return std::nullopt;
  for (const std::string& spelling : library_spellings(upper_case(name)))
    if (auto event = encode(pmu->name, spelling)) return event;
  return std::nullopt;
}

std::vector<VendorEvent> library_events(const CpuModel& model) {
  std::vector<VendorEvent> all;
  const auto pmu = find_pmu(model.pfm_name);
  if (!pmu) return all;
  for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i)) {
    pfm_event_info_t event{};
    event.size = sizeof event;
    if (pfm_get_event_info(i, PFM_OS_NONE, &event) != PFM_SUCCESS || is_off_core_response(event.name))
      continue;
    append_event(*pmu, event, all);
  }
  return all;
}

}  // namespace pmusim::events
