// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "why/report.h"
#include "why/table_columns.h"

namespace pmusim::why {

namespace {

using WhyJson = nlohmann::ordered_json;

WhyJson json_of_counts(const Counts& counts) {
  WhyJson json;
  for (std::size_t c = 0; c < columns; ++c)
    json[std::string(name_of(static_cast<Column>(c)))] = counts[static_cast<Column>(c)];
  return json;
}

WhyJson json_of_instruction(const Instruction& i) {
  WhyJson json{{"address", i.address}, {"text", i.text}, {"counts", json_of_counts(i.counts)}};
  if (i.stride.accesses != 0)
    json["stride"] = {{"bytes", i.stride.bytes}, {"same", i.stride.same}, {"accesses", i.stride.accesses}};
  if (i.chain.loops) json["chain_instructions"] = i.chain.instructions;
  return json;
}

WhyJson json_of_line(const Report& report, const Line& line) {
  WhyJson json{{"file", line.number == 0 ? WhyJson(nullptr) : WhyJson(line.file)},
               {"line", line.number},
               {"counts", json_of_counts(line.counts)},
               {"instructions", WhyJson::array()}};
  for (const u32 n : line.instructions)
    json["instructions"].push_back(json_of_instruction(report.instructions[n]));
  return json;
}

WhyJson json_of_function(const Report& report, const Function& function) {
  WhyJson json{{"name", function.name},
               {"linkage_name", function.linkage_name},
               {"module", function.module},
               {"problem", function.problem},
               {"counts", json_of_counts(function.counts)},
               {"lines", WhyJson::array()}};
  for (const u32 n : function.lines) json["lines"].push_back(json_of_line(report, report.lines[n]));
  return json;
}

WhyJson json_of_finding(const Report& report, const Finding& finding) {
  const Line& line = report.lines[finding.line];
  return {{"cause", name_of(finding.cause)},
          {"function", report.functions[line.function].name},
          {"file", line.number == 0 ? WhyJson(nullptr) : WhyJson(line.file)},
          {"line", line.number},
          {"cycles", finding.cycles},
          {"line_cycles", line.counts[Column::cycles]},
          {"sentence", finding.sentence}};
}

WhyJson json_of_loop(const Report& report, const Loop& loop) {
  const Distribution& trips = loop.rounds.trips;
  WhyJson histogram = WhyJson::array();
  for (const Distribution::Bucket& bucket : trips.buckets())
    histogram.push_back({{"from", bucket.first}, {"to", bucket.last}, {"entries", bucket.count}});
  WhyJson json{{"function", report.functions[loop.function].name},
               {"file", loop.first_line == 0 ? WhyJson(nullptr) : WhyJson(loop.file)},
               {"first_line", loop.first_line},
               {"last_line", loop.last_line},
               {"address", loop.header},
               {"parent", loop.parent ? WhyJson(report.loops[*loop.parent].header) : WhyJson(nullptr)},
               {"blocks", loop.blocks},
               {"entries", trips.count()},
               {"rounds", trips.sum()},
               {"trips",
                {{"median", trips.percentile(50)},
                 {"p90", trips.percentile(90)},
                 {"max", trips.max()},
                 {"histogram", std::move(histogram)}}},
               {"timed_rounds", loop.rounds.rounds},
               {"round_cycles", loop.rounds.round_cycles},
               {"cause", loop.cause ? WhyJson(name_of(*loop.cause)) : WhyJson(nullptr)},
               {"cause_cycles", loop.cause_cycles},
               {"slowest_chain", nullptr},
               {"sentence", loop.sentence},
               {"counts", json_of_counts(loop.counts)}};
  if (loop.slowest_chain)
    json["slowest_chain"] = json_of_instruction(report.instructions[*loop.slowest_chain]);
  return json;
}

WhyJson json_of_value(const std::optional<double>& value) {
  return value ? WhyJson(*value) : WhyJson(nullptr);
}

WhyJson json_of_node(const TopdownTree& tree, std::size_t number, const TopdownPart& part) {
  const TopdownTree::Node& node = tree.nodes()[number];
  const TopdownTree::Value& value = part.values[number];
  WhyJson json{{"metric", node.metric->name},
               {"level", node.metric->level},
               {"parent", node.metric->parent.empty() ? WhyJson(nullptr) : WhyJson(node.metric->parent)},
               {"meaning", node.metric->meaning},
               {"percent", json_of_value(value.percent)},
               {"above_threshold", value.stands_out ? WhyJson(*value.stands_out) : WhyJson(nullptr)},
               {"not_counted", node.not_counted.empty() ? WhyJson(nullptr) : WhyJson(node.not_counted)},
               {"events", WhyJson::object()}};
  for (const u32 n : node.events) {
    const EventTotal& total = part.totals[n];
    json["events"][total.name] = total.supported ? WhyJson(total.value()) : WhyJson(nullptr);
  }
  return json;
}

WhyJson json_of_part(const Report& report, const TopdownTree& tree, const TopdownPart& part) {
  WhyJson json;
  if (part.function) {
    const Function& function = report.functions[*part.function];
    json = {
        {"function", function.name}, {"linkage_name", function.linkage_name}, {"module", function.module}};
  }
  json["slots"] = part.slots;
  for (std::size_t n = 0; n < tree.nodes().size(); ++n) json["nodes"].push_back(json_of_node(tree, n, part));
  return json;
}

/// Null where nobody asked.
WhyJson json_of_topdown(const Report& report) {
  if (!report.topdown) return nullptr;
  const Topdown& topdown = *report.topdown;
  if (!topdown.tree) return {{"problem", topdown.problem}};
  WhyJson json{{"level", topdown.tree->level()},
               {"whole", json_of_part(report, *topdown.tree, topdown.parts.front())},
               {"functions", WhyJson::array()}};
  for (std::size_t n = 1; n < topdown.parts.size(); ++n)
    json["functions"].push_back(json_of_part(report, *topdown.tree, topdown.parts[n]));
  return json;
}

}  // namespace

std::string json_of(const Report& report, std::optional<u32> function) {
  WhyJson json{{"trace", report.title},
               {"model", report.setting.model},
               {"slots_per_cycle", report.width},
               {"notes", report.notes},
               {"total", json_of_counts(report.total)},
               {"findings", WhyJson::array()},
               {"topdown", json_of_topdown(report)},
               {"loops", WhyJson::array()},
               {"functions", WhyJson::array()}};
  report.setting.add_to(json);
  for (const Finding& finding : report.findings)
    if (!function || report.lines[finding.line].function == *function)
      json["findings"].push_back(json_of_finding(report, finding));
  for (const Loop& loop : report.loops)
    if (!function || loop.function == *function) json["loops"].push_back(json_of_loop(report, loop));
  for (u32 n = 0; n < report.functions.size(); ++n)
    if (!function || n == *function)
      json["functions"].push_back(json_of_function(report, report.functions[n]));
  // Names are bytes of files: what is no UTF-8 is replaced.
  return json.dump(1, ' ', false, WhyJson::error_handler_t::replace);
}

std::string page_json_of(const Report& report) {
  const auto with_names = [&](WhyJson json, u32 function) {
    const Function& of = report.functions[function];
    json["function"] = of.name;
    json["linkage_name"] = of.linkage_name;
    json["module"] = of.module;
    return json;
  };
  WhyJson json{{"slots_per_cycle", report.width},    {"total", json_of_counts(report.total)},
               {"topdown", json_of_topdown(report)}, {"columns", WhyJson::array()},
               {"findings", WhyJson::array()},       {"loops", WhyJson::array()},
               {"lines", WhyJson::array()}};
  for (const TableColumn& column : table_columns) {
    if (column.value(report.total) == 0) continue;
    WhyJson of{name_of(column.of)};
    if (column.and_of) of.push_back(name_of(*column.and_of));
    json["columns"].push_back({{"head", column.head}, {"of", std::move(of)}, {"slots", column.slots}});
  }
  for (const Finding& finding : report.findings)
    json["findings"].push_back(
        with_names(json_of_finding(report, finding), report.lines[finding.line].function));
  for (const Loop& loop : report.loops)
    json["loops"].push_back(with_names(json_of_loop(report, loop), loop.function));
  for (const Line& line : report.lines) {
    WhyJson with_counts{{"file", line.number == 0 ? WhyJson(nullptr) : WhyJson(line.file)},
                        {"line", line.number},
                        {"counts", json_of_counts(line.counts)}};
    json["lines"].push_back(with_names(std::move(with_counts), line.function));
  }
  return json.dump(-1, ' ', false, WhyJson::error_handler_t::replace);
}

}  // namespace pmusim::why
