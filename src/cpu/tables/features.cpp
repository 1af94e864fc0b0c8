// SPDX-License-Identifier: MIT
#include "cpu/tables/features.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cpu/tables/features/bonnell_to_tremont.h"
#include "cpu/tables/features/genoa_to_strix.h"
#include "cpu/tables/features/goldencove_to_coyotecove.h"
#include "cpu/tables/features/gracemont_to_arcticwolf.h"
#include "cpu/tables/features/naples_to_milan.h"
#include "cpu/tables/features/skylake_to_rocketlake.h"
#include "cpu/tables/features/yonah_to_broadwell.h"
#include "cpu/tables/text_table.h"

namespace pmusim::tables {
namespace {

struct Word {
  std::string_view text;
  u64 value;
};

template <class Enumeration>
constexpr Word word(std::string_view text, Enumeration value) {
  return {text, static_cast<u64>(value)};
}

constexpr Word yes_or_no[] = {{"no", 0}, {"yes", 1}};
constexpr Word freezes[] = {word("legacy", FreezeStyle::legacy),
                            word("streamlined", FreezeStyle::streamlined)};
constexpr Word rdpmc_words[] = {word("typed", RdpmcEncoding::typed), word("plain", RdpmcEncoding::plain)};
constexpr Word select_words[] = {word("modifiers", SelectLayout::modifiers),
                                 word("wide_events", SelectLayout::wide_events)};
constexpr Word port_event_words[] = {word("one_each", PortEvents::one_each),
                                     word("shared", PortEvents::shared)};
constexpr Word lbr_formats[] = {word("addresses_32", LbrFormat::addresses_32),
                                word("lip", LbrFormat::lip),
                                word("eip", LbrFormat::eip),
                                word("eip_flags", LbrFormat::eip_flags),
                                word("eip_flags_tsx", LbrFormat::eip_flags_tsx),
                                word("info", LbrFormat::info),
                                word("time", LbrFormat::time),
                                word("info_no_tsx", LbrFormat::info_no_tsx),
                                word("arch", LbrFormat::arch)};
constexpr Word pebs_formats[] = {
    {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3},
    {"4", 4}, {"5", 5}, {"6", 6}, {"architectural", PebsFeatures::architectural}};
constexpr Word data_sources[] = {word("nehalem", DataSourceEncoding::nehalem),
                                 word("westmere", DataSourceEncoding::westmere),
                                 word("sandy_bridge", DataSourceEncoding::sandy_bridge),
                                 word("skylake", DataSourceEncoding::skylake),
                                 word("golden_cove", DataSourceEncoding::golden_cove),
                                 word("gracemont", DataSourceEncoding::gracemont),
                                 word("crestmont", DataSourceEncoding::crestmont),
                                 word("lion_cove", DataSourceEncoding::lion_cove),
                                 word("panther_cove", DataSourceEncoding::panther_cove),
                                 word("arctic_wolf", DataSourceEncoding::arctic_wolf)};

/// Whether a cell may be -: a CpuModel to which nothing was added has nothing of the kind.
enum class Presence : u8 { always, optional };
using enum Presence;

struct Feature {
  std::string_view name;
  Presence presence;
  bool (*set)(CpuModel&, u64);    ///< false: the member does not take the value
  std::span<const Word> words{};  ///< empty: numbers
};

template <class Member>
bool assign(Member& member, u64 value) {
  member = static_cast<Member>(value);
  return static_cast<u64>(member) == value;
}

template <auto... path>
bool set_member(CpuModel& model, u64 value) {
  return assign((model.*....*path), value);
}
template <unsigned index>
bool set_offcore_rsp(CpuModel& model, u64 value) {
  return assign(model.offcore_rsp[index], value);
}
template <auto member>
bool set_package_view(CpuModel& model, u64 value) {
  if (!model.package_view) model.package_view.emplace();
  return assign(*model.package_view.*member, value);
}

/// A member, by the way to it.
template <auto... path>
constexpr Feature feature(std::string_view name, Presence presence, std::span<const Word> words = {}) {
  return {name, presence, set_member<path...>, words};
}
template <auto... path>
constexpr Feature flag(std::string_view name, Presence presence = optional) {
  return feature<path...>(name, presence, yes_or_no);
}

using M = CpuModel;
using L = LbrFeatures;
using P = PebsFeatures;
using A = AmdFeatures;

constexpr Feature intel_features[] = {
    feature<&M::family>("family", always),
    feature<&M::model>("model", always),
    feature<&M::stepping>("stepping", always),
    flag<&M::hybrid>("hybrid"),
    feature<&M::native_model_id>("native_model_id", optional),
    feature<&M::perfmon_version>("perfmon_version", always),
    feature<&M::gp_counters>("gp_counters", always),
    feature<&M::gp_counters_smt_off>("gp_counters_smt_off", optional),
    feature<&M::fixed_counters>("fixed_counters", optional),
    feature<&M::counter_width>("counter_width", always),
    feature<&M::arch_events>("arch_events", always),
    feature<&M::arch_events_length>("arch_events_length", always),
    feature<&M::leaf_0a_edx_strays>("leaf_0a_edx_strays", optional),
    {"package_view.gp_counters", optional, set_package_view<&CommonView::gp_counters>},
    {"package_view.fixed_counters", optional, set_package_view<&CommonView::fixed_counters>},
    {"package_view.arch_events", optional, set_package_view<&CommonView::arch_events>},
    feature<&M::perf_capabilities>("perf_capabilities", optional),
    feature<&M::freeze>("freeze", always, freezes),
    flag<&M::anythread>("anythread"),
    flag<&M::smt_shared_filters>("smt_shared_filters"),
    flag<&M::rtm>("rtm"),
    flag<&M::hle>("hle"),
    flag<&M::arch_perfmon_ext>("arch_perfmon_ext"),
    feature<&M::perfmon_ext_ebx>("perfmon_ext_ebx", optional),
    feature<&M::metrics_levels>("metrics_levels", optional),
    flag<&M::reference_event_is_tsc>("reference_event_is_tsc"),
    feature<&M::core, &CoreParameters::port_events>("core.port_events", always, port_event_words),
    flag<&M::has_pdcm>("has_pdcm", always),
    flag<&M::has_ibpb>("has_ibpb", always),
    flag<&M::has_rdtscp>("has_rdtscp", always),
    flag<&M::has_tsc_adjust>("has_tsc_adjust"),
    flag<&M::has_pperf>("has_pperf"),
    flag<&M::has_tsx_force_abort>("has_tsx_force_abort"),
    flag<&M::has_bus_lock_detect>("has_bus_lock_detect"),
    {"offcore_rsp.0", optional, set_offcore_rsp<0>},
    {"offcore_rsp.1", optional, set_offcore_rsp<1>},
    feature<&M::omr>("omr", optional),
    feature<&M::snoop_rsp>("snoop_rsp", optional),
    feature<&M::xcr0>("xcr0", always),
    feature<&M::xss>("xss", optional),
    flag<&M::has_xsaves>("has_xsaves"),
    feature<&M::lbr, &L::depth>("lbr.depth", optional),
    feature<&M::lbr, &L::format>("lbr.format", optional, lbr_formats),
    flag<&M::lbr, &L::has_select>("lbr.has_select"),
    flag<&M::lbr, &L::nehalem_filters>("lbr.nehalem_filters"),
    flag<&M::lbr, &L::call_stack>("lbr.call_stack"),
    flag<&M::lbr, &L::double_abort>("lbr.double_abort"),
    feature<&M::lbr, &L::from_base>("lbr.from_base", optional),
    feature<&M::lbr, &L::arch_depths>("lbr.arch_depths", optional),
    feature<&M::lbr, &L::cpuid_1c_eax_flags>("lbr.cpuid_1c_eax_flags", optional),
    feature<&M::lbr, &L::cpuid_1c_ebx>("lbr.cpuid_1c_ebx", optional),
    feature<&M::lbr, &L::cpuid_1c_ecx>("lbr.cpuid_1c_ecx", optional),
    feature<&M::pebs, &P::format>("pebs.format", optional, pebs_formats),
    feature<&M::pebs, &P::counters>("pebs.counters", optional),
    feature<&M::pebs, &P::distribution>("pebs.distribution", optional),
    flag<&M::pebs, &P::baseline>("pebs.baseline"),
    flag<&M::pebs, &P::precise_store>("pebs.precise_store"),
    flag<&M::pebs, &P::load_latency>("pebs.load_latency"),
    flag<&M::pebs, &P::frontend>("pebs.frontend"),
    flag<&M::pebs, &P::latency_split>("pebs.latency_split"),
    flag<&M::pebs, &P::eventing_ip>("pebs.eventing_ip"),
    feature<&M::pebs, &P::arch_capabilities>("pebs.arch_capabilities", optional),
    feature<&M::pebs, &P::data_source>("pebs.data_source", optional, data_sources),
    feature<&M::acr, &AcrFeatures::reloadable>("acr.reloadable", optional),
    feature<&M::acr, &AcrFeatures::cause>("acr.cause", optional),
};

constexpr Feature amd_features[] = {
    feature<&M::family>("family", always),
    feature<&M::model>("model", always),
    feature<&M::stepping>("stepping", always),
    feature<&M::amd, &A::cpuid_80000001_ecx>("amd.cpuid_80000001_ecx", always),
    feature<&M::amd, &A::cpuid_80000008_eax>("amd.cpuid_80000008_eax", always),
    feature<&M::amd, &A::cpuid_80000008_ebx>("amd.cpuid_80000008_ebx", always),
    feature<&M::amd, &A::cpuid_8000001b_eax>("amd.cpuid_8000001b_eax", optional),
    feature<&M::amd, &A::cpuid_80000021_eax>("amd.cpuid_80000021_eax", optional),
    feature<&M::amd, &A::cpuid_80000022_eax>("amd.cpuid_80000022_eax", optional),
    feature<&M::amd, &A::cpuid_80000022_ebx>("amd.cpuid_80000022_ebx", optional),
    feature<&M::gp_counters>("gp_counters", always),
    feature<&M::freeze>("freeze", always, freezes),
    feature<&M::rdpmc>("rdpmc", always, rdpmc_words),
    feature<&M::select>("select", always, select_words),
    flag<&M::pmi_masks_lvtpc>("pmi_masks_lvtpc", always),
    flag<&M::has_pdcm>("has_pdcm", always),
    flag<&M::has_x2apic>("has_x2apic", always),
    feature<&M::misc_enable>("misc_enable", always),
    feature<&M::xcr0>("xcr0", always),
    feature<&M::xss>("xss", optional),
    flag<&M::has_xsaves>("has_xsaves"),
};

std::span<const Feature> features_of(Vendor vendor) {
  return vendor == Vendor::amd ? std::span<const Feature>(amd_features) : intel_features;
}

std::optional<u64> number_from(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  u64 value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

std::optional<u64> value_of(const Feature& feature, std::string_view text) {
  if (feature.words.empty()) return number_from(text);
  const auto found = std::ranges::find(feature.words, text, &Word::text);
  return found == feature.words.end() ? std::nullopt : std::optional(found->value);
}

std::string expected_of(const Feature& feature) {
  std::string words;
  for (const Word& each : feature.words) words.append(words.empty() ? "" : " or ").append(each.text);
  return words.empty() ? "a number" : words;
}

void set_feature(CpuModel& model, const Feature& feature, const Cell& cell) {
  if (cell.word == nothing && feature.presence == optional) return;
  const std::optional<u64> value = value_of(feature, cell.word);
  if (!value) refuse_cell(feature.name, model.name, cell.word, expected_of(feature));
  if (!feature.set(model, *value)) refuse_cell(feature.name, model.name, cell.word, "a number of its width");
}

void expect_features_alone(std::span<const Feature> features, const TextTable& table) {
  for (const Row& row : table.rows)
    if (std::ranges::find(features, row.name, &Feature::name) == features.end())
      refuse_row(row.name, "feature");
}

struct FeatureTable {
  Vendor vendor;
  TextTable table;
};

const std::vector<FeatureTable>& feature_tables() {
  using namespace features;
  static const std::vector<FeatureTable> all = {{Vendor::intel, read_table(yonah_to_broadwell)},
                                                {Vendor::intel, read_table(skylake_to_rocketlake)},
                                                {Vendor::intel, read_table(goldencove_to_coyotecove)},
                                                {Vendor::intel, read_table(bonnell_to_tremont)},
                                                {Vendor::intel, read_table(gracemont_to_arcticwolf)},
                                                {Vendor::amd, read_table(naples_to_milan)},
                                                {Vendor::amd, read_table(genoa_to_strix)}};
  return all;
}

}  // namespace

void set_features(CpuModel& model, const TextTable& table) {
  const std::span<const Feature> features = features_of(model.vendor);
  expect_features_alone(features, table);
  const std::size_t column = column_of(table, model.name);
  for (const Feature& each : features) set_feature(model, each, row_of(table, each.name).cells[column]);
}

void set_features(CpuModel& model) {
  const auto& all = feature_tables();
  const auto found = std::ranges::find_if(all, [&](const FeatureTable& each) {
    return std::ranges::find(each.table.columns, model.name) != each.table.columns.end();
  });
  if (found == all.end()) refuse_row(model.name, "column");
  model.vendor = found->vendor;
  set_features(model, found->table);
}

}  // namespace pmusim::tables
