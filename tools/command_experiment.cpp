// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "command.h"
#include "experiment.h"
#include "model_option.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/trace/trace.h"
#include "progress_bar.h"
#include "session/collisions.h"

namespace pmusim::tools {

namespace {

/// At this period the shadow of a PEBS record (the arm delay and the wait for the next event, some eight
/// cycles) gives rates near the published ones; a prime, so that it does not beat with loops.
constexpr u64 default_period = 2003;
/// What a driver can program without full-width counter writes.
constexpr u64 longest_period = 0x7FFF'FFFF;

struct Collisions {
  std::vector<std::string> traces;
  u64 period = default_period;
  std::optional<unsigned> replays;
  bool json = false, sweep = false;
  ModelOption model{"haswell"};
};

/// What the rates depend on, and how well to measure them.
struct Setting {
  u32 arm_cycles = 0, merge_cycles = 0;
  u64 period = 0;
  unsigned replays = 1;
};

using Rates = std::vector<CollisionRate>;  // of the published sets, in their order

struct Measured {
  Setting setting;
  Rates rates;
};

/// Enough replays for some hundred collisions of each set where a record in three hundred collides, within
/// what a person waits for.
unsigned default_replays(u64 instructions) {
  constexpr u64 enough_instructions = 96'000'000;
  return static_cast<unsigned>(std::clamp<u64>(enough_instructions / std::max<u64>(instructions, 1), 8, 64));
}

/// The setting asked for, and with --sweep more that change one thing of it, measured more coarsely.
std::vector<Setting> collision_settings(const Collisions& command, const Policies& policies,
                                        unsigned replays) {
  const Setting base{policies.pebs_arm_cycles, policies.pebs_merge_cycles, command.period, replays};
  std::vector<Setting> list{base};
  if (!command.sweep) return list;
  const unsigned fewer = std::max(1u, replays / 4);
  for (const u32 cycles : {0u, 2u, 8u, 20u, 60u})
    list.push_back({cycles, base.merge_cycles, base.period, fewer});
  for (const u32 cycles : {0u, 10u, 40u}) list.push_back({base.arm_cycles, cycles, base.period, fewer});
  for (const u64 period : {u64{503}, u64{1009}, u64{4001}})
    list.push_back({base.arm_cycles, base.merge_cycles, period, fewer});
  return list;
}

/// Replays everything that was asked for.
std::vector<Measured> measure(const Collisions& command, const CpuModel& model) {
  u64 instructions = 0;
  for (const std::string& trace : command.traces)
    instructions += value_or_fail(trace::Reader::open(trace)).instruction_count();
  const unsigned replays = command.replays.value_or(default_replays(instructions));
  const std::vector<Setting> list = collision_settings(command, model.policies, replays);

  ProgressBar bar("replaying");
  Progress all{.total = instructions * published_collisions().size() * list.size()};
  std::vector<Measured> measured;
  for (const Setting& setting : list) {
    Measured& row = measured.emplace_back(Measured{setting, {}});
    CollisionExperiment experiment{model, {}, periods_around(setting.period, setting.replays)};
    experiment.model.policies.pebs_arm_cycles = setting.arm_cycles;
    experiment.model.policies.pebs_merge_cycles = setting.merge_cycles;
    experiment.progress = [&](Progress one) { bar.show({all.done + one.done, all.total}); };
    for (const CollisionSet& set : published_collisions()) {
      experiment.events = set.events;
      std::vector<CollisionCount> counts;
      for (const std::string& trace : command.traces)
        for (const CollisionCount& count : value_or_fail(count_collisions(trace, experiment)))
          counts.push_back(count);
      all.done += instructions;
      row.rates.push_back(pooled(counts));
    }
  }
  return measured;
}

nlohmann::ordered_json rows_json(const Rates& rates) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const CollisionSet& set = published_collisions()[i];
    const CollisionRate& r = rates[i];
    rows.push_back({{"events", set.events},
                    {"records", r.records},
                    {"collided", r.collided},
                    {"collision_rate", r.rate},
                    {"confidence_95", {r.low, r.high}},
                    {"published", set.published}});
  }
  return rows;
}

nlohmann::ordered_json setting_json(const Measured& measured) {
  const Setting& setting = measured.setting;
  return {{"period", setting.period},
          {"replays", periods_around(setting.period, setting.replays).size()},
          {"pebs_arm_cycles", setting.arm_cycles},
          {"pebs_merge_cycles", setting.merge_cycles},
          {"rows", rows_json(measured.rates)}};
}

void print_collisions_json(const std::vector<Measured>& measured, const CpuModel& model) {
  nlohmann::ordered_json document{{"model", model.name}};
  document.update(setting_json(measured.front()));
  for (std::size_t i = 1; i < measured.size(); ++i) document["sweep"].push_back(setting_json(measured[i]));
  fmt::print("{}\n", document.dump(2));
}

void print_rows(const Measured& measured, const CpuModel& model) {
  const std::size_t replays = periods_around(measured.setting.period, measured.setting.replays).size();
  fmt::print("PEBS records that name several events, on {}: {} replays with periods around {}\n\n",
             model.title, replays, measured.setting.period);
  fmt::print("{:<46} {:>8} {:>8} {:>8} {:>16} {:>10}\n", "events", "records", "collided", "rate",
             "95 % confidence", "published");
  for (std::size_t i = 0; i < measured.rates.size(); ++i) {
    const CollisionSet& set = published_collisions()[i];
    const CollisionRate& r = measured.rates[i];
    fmt::print("{:<46} {:>8} {:>8} {:>7.2f}% {:>16} {:>9.2f}%\n",
               fmt::format("{}", fmt::join(set.events, ",")), r.records, r.collided, 100 * r.rate,
               fmt::format("{:.2f}-{:.2f}%", 100 * r.low, 100 * r.high), 100 * set.published);
  }
  fmt::print("\nThe published figures are of four frequent events on a real machine with unknown periods.\n");
}

void print_sweep(std::span<const Measured> sweep) {
  fmt::print("\n{:>5} {:>6} {:>7}  ", "arm", "merge", "period");
  for (const CollisionSet& set : published_collisions())
    fmt::print("{:>10}", fmt::format("{} events", set.events.size()));
  fmt::print("   (the last: cycles:p twice)\n");
  for (const Measured& row : sweep) {
    fmt::print("{:>5} {:>6} {:>7}  ", row.setting.arm_cycles, row.setting.merge_cycles, row.setting.period);
    for (const CollisionRate& rate : row.rates) fmt::print("{:>9.2f}%", 100 * rate.rate);
    fmt::print("\n");
  }
}

void run_collisions(const Collisions& command) {
  const CpuModel model = command.model.model();
  if (!pebs::is_known(model.pebs.format) || pebs::has_registers_alone(model.pebs.format))
    throw CommandError(
        fmt::format("--model {}: this CPU has no records that could name several events", model.name));
  const std::vector<Measured> measured = measure(command, model);
  if (command.json) return print_collisions_json(measured, model);
  print_rows(measured.front(), model);
  if (command.sweep) print_sweep(measured);
}

void add_collisions(CLI::App& experiments) {
  auto options = std::make_shared<Collisions>();
  CLI::App* command = experiments.add_subcommand(
      "collisions", "How often PEBS records of events sampled together cannot be attributed");
  command->footer(
      "Four event sets of 2015 are sampled, all events with one period, in many replays with periods near\n"
      "each other. The published rates are 0.25, 0.30, 0.35 and 98.52 % (periods unknown). One set of model\n"
      "parameters serves all rows; --policy pebs_arm_cycles=N and pebs_merge_cycles=N change them.\n\n"
      "  pmusim experiment collisions T");
  command->add_option("trace", options->traces, "Traces to replay; their records are added up")->required();
  command->add_option("-c,--count", options->period, "Period of every event")
      ->check(CLI::Range(u64{1}, longest_period))
      ->capture_default_str();
  command
      ->add_option(
          "--replays", options->replays,
          "Replays, each with another period near that (default: 8 to 64, by the length of the traces)")
      ->check(CLI::Range(1u, 1024u));
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--sweep", options->sweep, "Also vary arm delay, merge window and period");
  options->model.add_to(*command);
  options->model.add_core_set_to(*command);
  command->callback([options] { run_collisions(*options); });
}

}  // namespace

void add_experiment(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("experiment", "Published experiments, with the published figures beside ours");
  command->require_subcommand(1);
  command->footer("'pmusim experiment collisions --help' and 'pmusim experiment acr --help' describe them.");
  add_collisions(*command);
  add_experiment_acr(*command);
}

}  // namespace pmusim::tools
