// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "driver/intel/debug_store/pebs_demux.h"
#include "output.h"
#include "pebs_file.h"

namespace pmusim::tools {

namespace {

using driver::DemuxTotals;

struct Generate {
  pebs::GeneratorOptions options;
  std::vector<std::string> groups;
  std::string output;
};

/// Groups that architectural records alone have.
constexpr std::pair<std::string_view, u64> vector_words[] = {{"ymmh", pebs::cfg_c::YMMH},
                                                             {"egpr", pebs::cfg_c::EGPR},
                                                             {"opmask", pebs::cfg_c::OPMASK},
                                                             {"zmmh", pebs::cfg_c::ZMMH},
                                                             {"hi16zmm", pebs::cfg_c::HI16_ZMM}};

u64 vector_group(const std::string& word, unsigned format) {
  if (!pebs::is_architectural(format))
    throw CommandError(fmt::format("--groups {}: only architectural records (--format 15) have it", word));
  return std::ranges::find(vector_words, word, &std::pair<std::string_view, u64>::first)->second;
}

void choose_groups(const std::vector<std::string>& names, pebs::GeneratorOptions& options) {
  if (names.empty()) return;
  if (pebs::is_fixed(options.format))
    throw CommandError("--groups: records of formats 0 to 3 have no groups");
  for (const std::string& name : names) {
    if (name == "memory")
      options.groups.memory = true;
    else if (name == "gpr")
      options.groups.gprs = true;
    else if (name == "xmm")
      options.groups.xmm = true;
    else if (name == "lbr")
      options.groups.lbr_entries = 32;
    else
      options.groups.other_vectors |= vector_group(name, options.format);
  }
}

void generate(const Generate& command) {
  pebs::GeneratorOptions options = command.options;
  choose_groups(command.groups, options);
  if (!pebs::is_known(options.format))
    throw CommandError(fmt::format("--format {}: PEBS formats are 0 to 6 and 15", options.format));
  if (options.fragment_bytes != 0 && !pebs::is_architectural(options.format))
    throw CommandError("--fragment: only architectural records (--format 15) come in fragments");
  if (pebs::has_registers_alone(options.format) && options.events > 1)
    throw CommandError("--events: format 0 has PEBS on one counter only");
  if (options.collisions_permille != 0 && options.events < 2)
    throw CommandError("--collisions: one event cannot collide with another");
  check_output_name(command.output, {});
  value_or_fail(write_pebs_file(command.output, pebs::generate_buffer(options)));
}

struct Drain {
  std::string file;
  bool json = false, records = false;
};

/// Takes no samples: the totals say it all.
struct NoSamples {
  void sample(unsigned, std::span<const std::byte>, driver::Place) {}
  void lost(unsigned, u64) {}
  bool begins(unsigned, u64) { return false; }
  void finished(unsigned, u64) {}
};

driver::DemuxSetup setup_of(const pebs::GeneratedBuffer& buffer) {
  return {.format = buffer.format,
          .enabled = buffer.enabled,
          .enable_word = buffer.enabled,
          .record_bytes = buffer.record_bytes};
}

std::vector<unsigned> counters_in(const std::array<u64, driver::pebs_counters>& counts) {
  std::vector<unsigned> counters;
  for (unsigned i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) counters.push_back(i);
  return counters;
}

/// What became of one record, from the totals of a drain of it alone.
std::string_view fate(const DemuxTotals& alone) {
  if (alone.collided != 0) return "collided";
  if (alone.unowned != 0) return "unowned";
  if (alone.odd_size != 0) return "odd size";
  if (alone.headless != 0) return "headless";
  return alone.rescued != 0 ? "sampled, status was lost" : "sampled";
}

/// Calls `visit(offset, totals of that record alone)` for every record.
template <class Visit>
void for_each_record(const pebs::GeneratedBuffer& buffer, Visit visit) {
  driver::Demultiplexer demultiplexer;
  std::vector<std::byte> bytes = buffer.bytes;  // a rescue patches records
  std::span<std::byte> rest(bytes);
  while (const std::size_t size = driver::first_record_bytes(rest, buffer.format)) {
    const DemuxTotals alone = demultiplexer.run(rest.first(size), setup_of(buffer), NoSamples{});
    if (alone.records != 0) visit(static_cast<u64>(rest.data() - bytes.data()), alone);
    rest = rest.subspan(size);
  }
}

nlohmann::ordered_json drain_json(const pebs::GeneratedBuffer& buffer, const DemuxTotals& totals) {
  nlohmann::ordered_json json{{"format", buffer.format},      {"records", totals.records},
                              {"sampled", totals.attributed}, {"shared", totals.shared},
                              {"rescued", totals.rescued},    {"collided", totals.collided},
                              {"unowned", totals.unowned},    {"odd_size", totals.odd_size},
                              {"headless", totals.headless},  {"trailing_bytes", totals.trailing_bytes}};
  json["counters"] = nlohmann::ordered_json::array();
  for (unsigned i = 0; i < driver::pebs_counters; ++i)
    if (totals.samples[i] != 0 || totals.lost[i] != 0)
      json["counters"].push_back({{"counter", i}, {"samples", totals.samples[i]}, {"lost", totals.lost[i]}});
  return json;
}

void print_drain_json(const Drain& command, const pebs::GeneratedBuffer& buffer, const DemuxTotals& totals) {
  nlohmann::ordered_json json = drain_json(buffer, totals);
  if (command.records) {
    json["fates"] = nlohmann::ordered_json::array();
    for_each_record(buffer, [&](u64 offset, const DemuxTotals& alone) {
      json["fates"].push_back({{"offset", offset},
                               {"fate", fate(alone)},
                               {"samples", counters_in(alone.samples)},
                               {"lost", counters_in(alone.lost)}});
    });
  }
  fmt::print("{}\n", json.dump(2));
}

void print_drain_text(const Drain& command, const pebs::GeneratedBuffer& buffer, const DemuxTotals& totals) {
  if (command.records) {
    fmt::print("{:>10}  {:<24}  counters\n", "offset", "became");
    for_each_record(buffer, [&](u64 offset, const DemuxTotals& alone) {
      const auto counters = counters_in(alone.collided != 0 ? alone.lost : alone.samples);
      fmt::print("{:>10}  {:<24}  {}\n", offset, fate(alone), fmt::join(counters, " "));
    });
    fmt::print("\n");
  }
  fmt::print("format {}: {} records\n", buffer.format, totals.records);
  fmt::print("  {:>10} sampled ({} shared by several counters, {} with a lost status)\n", totals.attributed,
             totals.shared, totals.rescued);
  fmt::print("  {:>10} collided: dropped, one lost sample for every collider\n", totals.collided);
  fmt::print("  {:>10} unowned: no enabled counter claims them\n", totals.unowned);
  fmt::print("  {:>10} of another configuration's size\n", totals.odd_size);
  fmt::print("  {:>10} headless fragments\n", totals.headless);
  fmt::print("  {:>10} bytes after the last whole record\n\n", totals.trailing_bytes);
  fmt::print("{:>7}  {:>10}  {:>10}\n", "counter", "samples", "lost");
  for (unsigned i = 0; i < driver::pebs_counters; ++i)
    if (totals.samples[i] != 0 || totals.lost[i] != 0)
      fmt::print("{:>7}  {:>10}  {:>10}\n", i, totals.samples[i], totals.lost[i]);
}

void drain(const Drain& command) {
  const pebs::GeneratedBuffer buffer = value_or_fail(read_pebs_file(command.file));
  driver::Demultiplexer demultiplexer;
  std::vector<std::byte> bytes = buffer.bytes;
  const DemuxTotals totals = demultiplexer.run(bytes, setup_of(buffer), NoSamples{});
  if (totals.records == 0 && totals.trailing_bytes != 0)
    throw CommandError(fmt::format("{}: offset {}: no record of format {} starts there", command.file,
                                   sizeof(PebsFileHeader), buffer.format));
  command.json ? print_drain_json(command, buffer, totals) : print_drain_text(command, buffer, totals);
}

}  // namespace

void add_pebs(CLI::App& app) {
  CLI::App* pebs = app.add_subcommand("pebs", "Synthetic PEBS buffers, for tests and benchmarks of a driver");
  pebs->require_subcommand(1);
  pebs->footer(
      "A buffer of 10,000 records of which 3 in a thousand name two counters, and what a driver makes of "
      "it:\n\n"
      "  pmusim pebs generate --format 3 --records 10000 --collisions 3 -o records.pebs\n"
      "  pmusim pebs drain records.pebs");

  auto make = std::make_shared<Generate>();
  CLI::App* generator = pebs->add_subcommand("generate", "Write a buffer of random records to a file");
  generator->footer(
      "The same options and seed write the same bytes. The file is a header, which `pebs drain` reads, and "
      "the\n"
      "bytes that hardware would leave between PEBS base and index.");
  generator->add_option("--format", make->options.format, "PEBS format: 0 to 6, or 15 (architectural)")
      ->required();
  generator->add_option("--events", make->options.events, "Events, on GP counters 0, 1, ...")
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  generator->add_option("--records", make->options.records, "Records to write")
      ->required()
      ->check(CLI::Range(0u, 1u << 20));
  generator
      ->add_option("--collisions", make->options.collisions_permille,
                   "Records per thousand that name two counters")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  generator->add_option("--seed", make->options.seed, "Seed of the random numbers")->capture_default_str();
  generator
      ->add_option("--groups", make->groups,
                   "Groups beside the basic one: memory,gpr,xmm,lbr, and with "
                   "format 15 ymmh,egpr,opmask,zmmh,hi16zmm")
      ->delimiter(',')
      ->check(CLI::IsMember({"memory", "gpr", "xmm", "lbr", "ymmh", "egpr", "opmask", "zmmh", "hi16zmm"}));
  generator
      ->add_option("--fragment", make->options.fragment_bytes,
                   "Split architectural records longer than so many bytes between groups; 0 never")
      ->capture_default_str();
  generator->add_option("-o,--output", make->output, "File to write")->required();
  generator->callback([make] { generate(*make); });

  auto take = std::make_shared<Drain>();
  CLI::App* drainer =
      pebs->add_subcommand("drain", "Demultiplex a buffer and tell what became of every record");
  drainer->footer(
      "Every record ends in exactly one account. A record that names several counters cannot be attributed: "
      "it\n"
      "is dropped, and each of them gets one lost sample.");
  drainer->add_option("file", take->file, "File that `pebs generate` wrote")->required();
  drainer->add_flag("--json", take->json, "Print JSON");
  drainer->add_flag("--records", take->records, "List every record");
  drainer->callback([take] { drain(*take); });
}

}  // namespace pmusim::tools
