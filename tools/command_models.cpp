// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "cpu/model_names.h"
#include "model_difference.h"
#include "model_page.h"
#include "output.h"
#include "parameter_page.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/cpu/model.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;

struct ModelsCommand {
  std::vector<std::string> names;
  bool json = false, diff = false, markdown = false, parameters = false;
};

// --- what the columns say
// ------------------------------------------------------------------------------------

std::string_view lbr_format_name(LbrFormat format) {
  switch (format) {
    case LbrFormat::addresses_32:
      return "32-bit";
    case LbrFormat::lip:
      return "linear";
    case LbrFormat::eip:
      return "plain";
    case LbrFormat::eip_flags:
      return "flags";
    case LbrFormat::eip_flags_tsx:
      return "flags+tsx";
    case LbrFormat::info:
      return "info";
    case LbrFormat::time:
      return "time";
    case LbrFormat::info_no_tsx:
      return "info-";
    case LbrFormat::arch:
      return "arch";
    case LbrFormat::amd_v2:
      return "amd";
  }
  return "?";
}

std::string lbr_summary(const LbrFeatures& lbr) {
  return lbr.depth == 0 ? "-" : fmt::format("{} {}", lbr.depth, lbr_format_name(lbr.format));
}

std::string pebs_summary(const PebsFeatures& pebs) {
  if (!pmusim::pebs::is_known(pebs.format)) return "-";
  const std::string format =
      pmusim::pebs::is_architectural(pebs.format) ? "arch" : fmt::format("{}", pebs.format);
  const bool fixed_too = (pebs.counters >> 32) != 0;
  return fmt::format("{} on {}{}", format, index_ranges(pebs.counters & low_bits(32)),
                     fixed_too ? " +fixed" : "");
}

/// AMD numbers its second version alone.
std::string perfmon_summary(const CpuModel& model) {
  if (model.vendor == Vendor::intel) return fmt::format("{}", model.perfmon_version);
  return model.amd.has_perfmon_v2() ? "AMD 2" : "AMD";
}

void print_table(const std::vector<const CpuModel*>& models) {
  constexpr auto row = "{:<16} {:<33} {:<6} {:>7} {:>3} {:>7} {:>5}  {:<18} {:<12} {:>7} {:>6}\n";
  fmt::print(row, "NAME", "CPU", "FAM_M", "PERFMON", "GP", "FIXED", "WIDTH", "PEBS", "LBR", "METRICS",
             "EVENTS");
  for (const CpuModel* m : models) {
    fmt::print(row, m->name, m->title, fmt::format("{:02X}_{:02X}", m->family, m->model), perfmon_summary(*m),
               std::popcount(m->gp_counters), index_ranges(m->fixed_counters), m->counter_width,
               pebs_summary(m->pebs), lbr_summary(m->lbr),
               m->metrics_levels == 0 ? "-" : fmt::format("L{}", m->metrics_levels), m->events.size());
  }
}

void print_other_names() {
  fmt::print("\nOther names:\n");
  for (const ModelAlias& alias : model_aliases())
    fmt::print("{:<16} {}{}\n", alias.name, alias.model,
               alias.e_core.empty() ? "" : fmt::format(" (its E core: {})", alias.e_core));
}

// --- JSON
// ----------------------------------------------------------------------------------------------------

Json cpuid_leaves(const CpuModel& model) {
  struct Leaf {
    u32 leaf, subleaves;
  };
  Json leaves = Json::array();
  for (const Leaf& leaf : {Leaf{0x1, 1},
                           {0x7, 2},
                           {0xA, 1},
                           {0xD, 20},
                           {0x1A, 1},
                           {0x1C, 1},
                           {0x23, 6},
                           {0x80000001, 1},
                           {0x80000008, 1},
                           {0x8000001B, 1},
                           {0x80000021, 1},
                           {0x80000022, 1}}) {
    for (u32 subleaf = 0; subleaf < leaf.subleaves; ++subleaf) {
      const CpuidResult r = cpuid(model, leaf.leaf, subleaf);
      if (r == CpuidResult{}) continue;
      leaves.push_back({{"leaf", hex(leaf.leaf)},
                        {"subleaf", subleaf},
                        {"eax", hex(r.eax)},
                        {"ebx", hex(r.ebx)},
                        {"ecx", hex(r.ecx)},
                        {"edx", hex(r.edx)}});
    }
  }
  return leaves;
}

Json lbr_json(const LbrFeatures& lbr) {
  if (lbr.depth == 0) return nullptr;
  return {{"depth", lbr.depth},
          {"format", static_cast<unsigned>(lbr.format)},
          {"architectural", lbr.format == LbrFormat::arch},
          {"select", lbr.has_select},
          {"call_stack", lbr.call_stack}};
}

Json pebs_json(const CpuModel& m) {
  const PebsFeatures& pebs = m.pebs;
  if (!pmusim::pebs::is_known(pebs.format)) return nullptr;
  return {{"format", pebs.format},
          {"architectural", pmusim::pebs::is_architectural(pebs.format)},
          {"counters", hex(pebs.counters)},
          {"precise_distribution", hex(pebs.distribution)},
          {"adaptive", pebs.baseline},
          {"precise_store", pebs.precise_store},
          {"load_latency", pebs.load_latency},
          {"frontend", pebs.frontend},
          {"eventing_ip", pebs.eventing_ip},
          {"arch_capabilities", hex(m.pebs_groups() >> 32)}};
}

Json policies_json(const Policies& policies) {
  Json all = Json::object();
  for (const PolicyInfo& policy : policy_table()) all[std::string(policy.name)] = policies.*policy.member;
  return all;
}

Json model_json(const CpuModel& m) {
  const bool acr = m.acr.cause != 0;
  return {
      {"name", m.name},
      {"title", m.title},
      {"vendor", m.vendor == Vendor::amd ? "AMD" : "Intel"},
      {"family", m.family},
      {"model", m.model},
      {"stepping", m.stepping},
      {"core_type", m.core_type == CoreType::atom ? "atom" : "core"},
      {"hybrid", m.hybrid},
      {"perfmon_version", m.perfmon_version},
      {"gp_counters", hex(m.gp_counters)},
      {"fixed_counters", hex(m.fixed_counters)},
      {"counter_width", m.counter_width},
      {"global_ctrl_mask", hex(m.counters() | (m.metrics_levels != 0 ? msr::status::PERF_METRICS : 0))},
      {"arch_events", hex(m.arch_events)},
      {"perf_capabilities", hex(m.perf_capabilities)},
      {"freeze", m.freeze == FreezeStyle::legacy ? "legacy" : "streamlined"},
      {"anythread", m.anythread},
      {"rtm", m.rtm},
      {"metrics_levels", m.metrics_levels},
      {"slots_per_cycle", m.core.issue_width},
      {"lbr", lbr_json(m.lbr)},
      {"pebs", pebs_json(m)},
      {"acr", acr ? Json{{"reloadable", hex(m.acr.reloadable)}, {"cause", hex(m.acr.cause)}} : Json(nullptr)},
      {"events", m.events.size()},
      {"cpuid", cpuid_leaves(m)},
      {"policies", policies_json(m.policies)}};
}

void print_differences(const CpuModel& first, const CpuModel& second, bool as_json) {
  const auto found = differences(first, model_json(first), second, model_json(second));
  if (!as_json) return print_to(stdout, table_of(found, first, second));
  Json all = Json::array();
  for (const ModelDifference& d : found)
    all.push_back({{"what", d.what}, {first.name, d.first}, {second.name, d.second}});
  print_to(stdout, all.dump(2) + "\n");
}

std::string parameters_text(const ModelsCommand& command, const std::vector<const CpuModel*>& models) {
  if (!command.markdown)
    return command.json ? parameter_json(models).dump(2) + "\n" : parameter_table(models);
  if (!models.empty())
    throw CommandError("--parameters --markdown: is the page of what there is, of no model");
  return parameter_page();
}

void run_models(const ModelsCommand& command) {
  std::vector<CpuModel> chosen;
  for (const std::string& name : command.names) chosen.push_back(value_or_fail(find_cpu_model(name)));
  if (command.diff) {
    if (chosen.size() != 2)
      throw CommandError(
          fmt::format("--diff compares two models, not {}: --diff icelake skylake", chosen.size()));
    return print_differences(chosen[0], chosen[1], command.json);
  }
  std::vector<const CpuModel*> models;
  for (const CpuModel& model : chosen) models.push_back(&model);
  if (command.parameters) return print_to(stdout, parameters_text(command, models));
  if (command.names.empty()) {
    for (const CpuModel& model : cpu_models()) models.push_back(&model);
    if (!command.markdown)  // the claims of which it is the page are of Intel's
      for (const CpuModel& model : cpu_models(Vendor::amd)) models.push_back(&model);
  }
  if (command.markdown) return print_to(stdout, page_of(models));
  if (!command.json) {
    print_table(models);
    if (command.names.empty()) print_other_names();
    return;
  }
  Json all = Json::array();
  for (const CpuModel* model : models) all.push_back(model_json(*model));
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_models(CLI::App& app) {
  auto command = std::make_shared<ModelsCommand>();
  CLI::App* const models = app.add_subcommand("models", "List the CPUs that --model takes");
  models->footer(
      "A model is one product's PMU: counters, LBR and PEBS formats, events, CPUID leaves.\n\n"
      "  pmusim models                      a line each\n"
      "  pmusim models --json icelake       all that is known of one\n"
      "  pmusim models --diff icelake tigerlake   what differs between the two\n"
      "  pmusim models --markdown skymont   each claim with where it is from\n"
      "  pmusim models --parameters skymont   sizes, widths, latencies of its core, and how they are known");
  models->add_option("name", command->names, "only these");
  models->add_flag("--json", command->json, "everything that is enumerated, as a JSON array");
  models->add_flag("--diff", command->diff,
                   "what differs between two models: facts, CPUID, policies, events");
  models->add_flag("--markdown", command->markdown, "what is claimed of each and how it is known, as a page");
  models
      ->add_flag("--parameters", command->parameters,
                 "what can be chosen of a core with --core-set: values of the models named, units, ranges")
      ->excludes("--diff");
  models->callback([command] { run_models(*command); });
}

}  // namespace pmusim::tools
