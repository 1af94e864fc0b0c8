// SPDX-License-Identifier: MIT
#include "events/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "events/sampling_pmus.h"
#include "pmusim/arch/msr.h"

namespace pmusim::events {
namespace {

using Exists = bool (*)(const CpuModel&);

struct Row {
  Format format;
  Exists exists;
};

constexpr u64 perf::Attr::*config = &perf::Attr::config;
constexpr u64 perf::Attr::*config1 = &perf::Attr::config1;
constexpr u64 perf::Attr::*config2 = &perf::Attr::config2;

bool always(const CpuModel&) { return true; }
bool has_narrow_events(const CpuModel& m) { return m.select == SelectLayout::modifiers; }
bool has_wide_events(const CpuModel& m) { return m.select == SelectLayout::wide_events; }
bool has_umask2(const CpuModel& m) { return (m.perfmon_ext_ebx & 1) != 0; }
bool has_eq(const CpuModel& m) { return (m.perfmon_ext_ebx & 2) != 0; }
bool has_rtm(const CpuModel& m) { return m.rtm; }
bool clears_metrics(const CpuModel& m) { return m.has_capability(msr::perf_cap::RDPMC_METRICS_CLEAR); }

// Core PMUs publish `any` from version 2 on, whether the CPU still has it or refuses it.
constexpr Row rows[] = {
    {{"event", config, {0, 8}}, has_narrow_events},
    {{"event", config, {0, 8}, {32, 4}}, has_wide_events},
    {{"umask", config, {8, 8}}, [](const CpuModel& m) { return !has_umask2(m); }},
    {{"umask", config, {8, 8}, {40, 8}}, has_umask2},
    {{"edge", config, {18, 1}}, always},
    {{"pc", config, {19, 1}}, has_narrow_events},
    {{"any", config, {21, 1}}, [](const CpuModel& m) { return m.perfmon_version >= 2; }},
    {{"inv", config, {23, 1}}, always},
    {{"cmask", config, {24, 8}}, always},
    {{"in_tx", config, {32, 1}}, has_rtm},
    {{"in_tx_cp", config, {33, 1}}, has_rtm},
    {{"eq", config, {36, 1}}, has_eq},
    {{"offcore_rsp", config1, {0, 64}}, [](const CpuModel& m) { return m.offcore_rsp[0] != 0; }},
    {{"offmodule_rsp", config1, {0, 64}}, [](const CpuModel& m) { return m.omr != 0; }},
    {{"metrics_clear", config1, {0, 1}}, clears_metrics},
    {{"ldlat", config1, {0, 16}}, [](const CpuModel& m) { return m.pebs.load_latency; }},
    {{"frontend", config1, {0, 24}}, [](const CpuModel& m) { return m.pebs.frontend; }},
    {{"snoop_rsp", config1, {0, 64}}, [](const CpuModel& m) { return m.snoop_rsp != 0; }},
    {{"acr_mask", config2, {0, 64}}, [](const CpuModel& m) { return m.acr.cause != 0; }},
};

template <u32 capability>
bool has_ibs(const CpuModel& m) {
  return (m.amd.cpuid_8000001b_eax & capability) != 0;
}

constexpr Row fetch_rows[] = {
    {{"rand_en", config, {57, 1}}, always},
    {{"l3missonly", config, {59, 1}}, has_ibs<ibs::caps::L3_MISS_FILTER>},
    {{"swfilt", config2, {0, 1}}, always},
};
constexpr Row op_rows[] = {
    {{"cnt_ctl", config, {19, 1}}, has_ibs<ibs::caps::OP_COUNT>},
    {{"l3missonly", config, {16, 1}}, has_ibs<ibs::caps::L3_MISS_FILTER>},
    {{"ldlat", config1, {0, 12}}, has_ibs<ibs::caps::LATENCY_FILTER>},
    {{"swfilt", config2, {0, 1}}, always},
};

std::span<const Row> rows_of(u32 type) {
  if (type == ibs_fetch_type) return fetch_rows;
  if (type == ibs_op_type) return op_rows;
  return rows;
}

std::string text_of(const BitRange& bits) {
  return bits.width == 1 ? fmt::format("{}", bits.low)
                         : fmt::format("{}-{}", bits.low, bits.low + bits.width - 1);
}

std::string_view name_of(u64 perf::Attr::*word) {
  return word == config ? "config" : word == config1 ? "config1" : "config2";
}

}  // namespace

std::string Format::text() const {
  const std::string first = fmt::format("{}:{}", name_of(word), text_of(range));
  return upper.width == 0 ? first : first + "," + text_of(upper);
}

std::vector<Format> formats(const CpuModel& model, u32 type) {
  std::vector<Format> present;
  for (const Row& row : rows_of(type))
    if (row.exists(model)) present.push_back(row.format);
  return present;
}

bool is_format(std::string_view name) {
  const auto has = [&](std::span<const Row> of) {
    return std::ranges::any_of(of, [&](const Row& row) { return row.format.name == name; });
  };
  return has(rows) || has(fetch_rows) || has(op_rows);
}

}  // namespace pmusim::events
