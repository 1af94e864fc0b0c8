// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "why/report.h"

namespace pmusim::why {

namespace {

using WhyJson = nlohmann::ordered_json;

WhyJson json_of_counts(const Counts& counts) {
  WhyJson json;
  for (std::size_t c = 0; c < columns; ++c)
    json[std::string(column_names()[c])] = counts[static_cast<Column>(c)];
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

}  // namespace

std::string json_of(const Report& report, std::optional<u32> function) {
  WhyJson json{{"trace", report.title},
               {"model", report.model},
               {"slots_per_cycle", report.width},
               {"notes", report.notes},
               {"total", json_of_counts(report.total)},
               {"findings", WhyJson::array()},
               {"functions", WhyJson::array()}};
  for (const Finding& finding : report.findings)
    if (!function || report.lines[finding.line].function == *function)
      json["findings"].push_back(json_of_finding(report, finding));
  for (u32 n = 0; n < report.functions.size(); ++n)
    if (!function || n == *function)
      json["functions"].push_back(json_of_function(report, report.functions[n]));
  // Names are bytes of files: what is no UTF-8 is replaced.
  return json.dump(1, ' ', false, WhyJson::error_handler_t::replace);
}

}  // namespace pmusim::why
