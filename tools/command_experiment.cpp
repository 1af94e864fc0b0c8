#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "experiment.h"
#include "model_option.h"
#include "pmusim/session/collisions.h"

namespace pmusim::tools {

namespace {

/// Fits the shadow of a PEBS record (the arm delay and the wait for the next event, some eight cycles) to the
/// published rates; a prime, so that it does not beat with loops.
constexpr u64 default_period = 1511;

struct Collisions {
  std::vector<std::string> traces;
  u64 period = default_period;
  bool json = false, sweep = false;
  ModelOption model{"haswell"};
};

CollisionCounts count(const Collisions& command, const CpuModel& model, const CollisionSet& set, u64 period) {
  CollisionCounts counts;
  for (const std::string& trace : command.traces)
    counts += value_or_fail(count_collisions(trace, model, set.events, period));
  return counts;
}

/// One setting of what the rates depend on.
struct Setting {
  u32 arm_cycles = 0, merge_cycles = 0;
  u64 period = 0;
};

CpuModel with(CpuModel model, const Setting& setting) {
  model.policies.pebs_arm_cycles = setting.arm_cycles;
  model.policies.pebs_merge_cycles = setting.merge_cycles;
  return model;
}

/// The default setting, and settings that each change one thing of it.
std::vector<Setting> sweep_settings(const CpuModel& model, u64 period) {
  const Setting base{model.policies.pebs_arm_cycles, model.policies.pebs_merge_cycles, period};
  std::vector<Setting> settings{base};
  for (const u32 cycles : {0u, 20u, 60u}) settings.push_back({cycles, base.merge_cycles, period});
  for (const u32 cycles : {0u, 10u, 40u}) settings.push_back({base.arm_cycles, cycles, period});
  for (const u64 other : {u64{503}, u64{4001}})
    settings.push_back({base.arm_cycles, base.merge_cycles, other});
  return settings;
}

nlohmann::ordered_json rows_json(const Collisions& command, const CpuModel& model, u64 period) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CollisionSet& set : published_collisions()) {
    const CollisionCounts counts = count(command, model, set, period);
    rows.push_back({{"events", set.events},
                    {"records", counts.records},
                    {"collision_rate", counts.rate()},
                    {"published", set.published}});
  }
  return rows;
}

void print_json(const Collisions& command, const CpuModel& model) {
  nlohmann::ordered_json document{{"model", model.name},
                                  {"period", command.period},
                                  {"pebs_arm_cycles", model.policies.pebs_arm_cycles},
                                  {"pebs_merge_cycles", model.policies.pebs_merge_cycles},
                                  {"rows", rows_json(command, model, command.period)}};
  if (command.sweep) {
    document["sweep"] = nlohmann::ordered_json::array();
    for (const Setting& setting : sweep_settings(model, command.period))
      document["sweep"].push_back({{"pebs_arm_cycles", setting.arm_cycles},
                                   {"pebs_merge_cycles", setting.merge_cycles},
                                   {"period", setting.period},
                                   {"rows", rows_json(command, with(model, setting), setting.period)}});
  }
  fmt::print("{}\n", document.dump(2));
}

void print_rows(const Collisions& command, const CpuModel& model) {
  fmt::print("PEBS records that name several events, on {} with a period of {}\n\n", model.title,
             command.period);
  fmt::print("{:<52} {:>9} {:>9} {:>9} {:>10}\n", "events", "records", "collided", "rate", "published");
  for (const CollisionSet& set : published_collisions()) {
    const CollisionCounts counts = count(command, model, set, command.period);
    fmt::print("{:<52} {:>9} {:>9} {:>8.2f}% {:>9.2f}%\n", fmt::format("{}", fmt::join(set.events, ",")),
               counts.records, counts.collided, 100 * counts.rate(), 100 * set.published);
  }
  fmt::print("\nThe published figures are of four frequent events on a real machine with unknown periods.\n");
}

void print_sweep(const Collisions& command, const CpuModel& model) {
  fmt::print("\n{:>5} {:>6} {:>7}  ", "arm", "merge", "period");
  for (const CollisionSet& set : published_collisions())
    fmt::print("{:>10}", fmt::format("{} events", set.events.size()));
  fmt::print("   (the last: cycles:p twice)\n");
  for (const Setting& setting : sweep_settings(model, command.period)) {
    fmt::print("{:>5} {:>6} {:>7}  ", setting.arm_cycles, setting.merge_cycles, setting.period);
    for (const CollisionSet& set : published_collisions())
      fmt::print("{:>9.2f}%", 100 * count(command, with(model, setting), set, setting.period).rate());
    fmt::print("\n");
  }
}

void run(const Collisions& command) {
  const CpuModel model = command.model.model();
  if (model.pebs.format == PebsFeatures::none || model.pebs.format == 0)
    throw CommandError(
        fmt::format("--model {}: this CPU has no records that could name several events", model.name));
  if (command.json) return print_json(command, model);
  print_rows(command, model);
  if (command.sweep) print_sweep(command, model);
}

void add_collisions(CLI::App& experiments) {
  auto options = std::make_shared<Collisions>();
  CLI::App* command = experiments.add_subcommand(
      "collisions", "How often PEBS records of events sampled together cannot be told apart");
  command->add_option("trace", options->traces, "Traces to replay; their records are added up")->required();
  command->add_option("-c,--count", options->period, "Period of every event")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--sweep", options->sweep, "Also vary arm delay, merge window and period");
  options->model.add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace

void add_experiment(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("experiment", "Published experiments, with the published figures beside ours");
  command->require_subcommand(1);
  add_collisions(*command);
  add_experiment_acr(*command);
}

}  // namespace pmusim::tools
