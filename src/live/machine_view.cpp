// SPDX-License-Identifier: MIT
#include "live/machine_view.h"

#include <fmt/format.h>

#include "events/event_code.h"
#include "events/formats.h"
#include "events/names.h"
#include "events/sampling_pmus.h"
#include "session/pmu_caps.h"

namespace pmusim::live {
namespace {

/// The encoding of a generic event, or of one that the driver has a name for.
std::optional<events::NamedEvent> encoding(const CpuModel& model, std::string_view name) {
  if (const auto own = events::find_driver_event(model, name)) return own;
  const auto generic = events::find_hardware_event(name);
  if (!generic) return std::nullopt;
  const auto encoded = encode_generic_event(model.microarchitecture(), generic->config, model.arch_events);
  if (!encoded.ok()) return std::nullopt;
  return events::NamedEvent{perf::EventType::raw, encoded->config, encoded->extra};
}

std::string terms(const events::NamedEvent& event, SelectLayout layout) {
  const bool has_modifiers = layout == SelectLayout::modifiers;
  std::string text = fmt::format("event={:#04x}", events::event_code(layout, event.config).event);
  if (const u64 umask = event.config >> 8 & 0xFF; umask != 0) text += fmt::format(",umask={:#04x}", umask);
  if (const u64 cmask = event.config >> 24 & 0xFF; cmask != 0) text += fmt::format(",cmask={:#04x}", cmask);
  if ((event.config >> 23 & 1) != 0) text += ",inv=1";
  if (has_modifiers && (event.config >> 32 & 1) != 0) text += ",in_tx=1";
  if (has_modifiers && (event.config >> 33 & 1) != 0) text += ",in_tx_cp=1";
  if (event.config1 != 0) text += fmt::format(",ldlat={}", event.config1);
  return text + "\n";
}

/// What every PMU has.
PmuView pmu_view(const CpuModel& model, std::string_view name, u32 type) {
  PmuView view{.name = std::string(name), .files = {{"type", fmt::format("{}\n", type)}}};
  for (const events::Format& format : events::formats(model, type))
    view.files.emplace_back(fmt::format("format/{}", format.name), format.text() + "\n");
  return view;
}

PmuView core_pmu_view(const CpuModel& model, const perf::PmuCapabilities& pmu) {
  PmuView view = pmu_view(model, pmu.name, static_cast<u32>(perf::EventType::raw));
  const auto add = [&](std::string path, std::string text) {
    view.files.emplace_back(std::move(path), std::move(text));
  };
  for (const std::string_view name : events::perf_event_names(model)) {
    const auto event = encoding(model, name);
    if (!event) continue;
    add(fmt::format("events/{}", name), terms(*event, model.select));
    if (event->scale != 1) add(fmt::format("events/{}.scale", name), fmt::format("{}\n", event->scale));
  }
  for (const auto& [name, text] : pmu_caps(pmu, model)) add("caps/" + name, text + "\n");
  if (model.hybrid) add("cpus", "0\n");
  return view;
}

PmuView sampling_pmu_view(const CpuModel& model, const events::SamplingPmu& pmu) {
  PmuView view = pmu_view(model, pmu.name, pmu.type);
  for (const auto& [name, text] : events::sampling_pmu_caps(model, pmu.type))
    view.files.emplace_back("caps/" + name, text + "\n");
  return view;
}

}  // namespace

MachineView view_of(const CpuModel& model, const perf::PmuCapabilities& pmu, const perf::Limits& limits) {
  MachineView view{.pmus = {core_pmu_view(model, pmu)},
                   .environment = {},
                   .settings = {{"perf_event_paranoid", fmt::format("{}\n", limits.paranoid)},
                                {"perf_event_mlock_kb", fmt::format("{}\n", limits.mlock_kib)},
                                {"perf_event_max_sample_rate", fmt::format("{}\n", limits.max_sample_rate)}}};
  for (const events::SamplingPmu& sampling : events::sampling_pmus(model))
    view.pmus.push_back(sampling_pmu_view(model, sampling));
  view.environment = {{"PERF_CPUID", fmt::format("{}-{}-{:X}-{:X}", cpuid_name(model.vendor), model.family,
                                                 model.model, model.stepping)},
                      {"LIBPFM_FORCE_PMU", model.pfm_name}};
  return view;
}

}  // namespace pmusim::live
