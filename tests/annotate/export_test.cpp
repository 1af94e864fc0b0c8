// SPDX-License-Identifier: MIT
// Profiles in the formats of other tools, read back by readers of their own.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "pmusim/annotate/report.h"
#include "tests/support/json.h"

namespace pmusim::annotate::export_test {
namespace {

using nlohmann::json;
using test::parse_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Weights weights(u64 cycles, u64 misses) { return {{cycles != 0, cycles}, {misses != 0, misses}}; }

/// main calls f, which calls itself and g; names are such that each format could be led astray.
Report profile() {
  Report report;
  report.input = "per\"f.data";
  report.command_line = "prog\nevents: 1";
  report.events = {{"cycles:upp", {4, 111}}, {"branch misses\n", {2, 21}}};
  Module program;
  program.path = "/bin/a\nfn=(1) b";
  program.build_id = "abcd";
  program.weights = weights(111, 21);
  report.modules = {program};
  const auto add = [&](const std::string& name, Weights self, Weights with_callees) {
    Symbol symbol;
    symbol.name = name;
    symbol.linkage_name = name;
    symbol.module = 0;
    symbol.weights = std::move(self);
    symbol.with_callees = std::move(with_callees);
    report.symbols.push_back(symbol);
  };
  add("ma;in\xff", weights(1, 0), weights(111, 21));
  add("f\n1 99999\"", weights(10, 20), weights(110, 21));
  add("(1) g\\", weights(100, 1), weights(100, 1));
  report.stack_source = StackSource::callchain;
  report.stacks = {{nothing, nothing, weights(0, 0), weights(111, 21)},
                   {0, 0, weights(1, 0), weights(111, 21)},
                   {1, 1, weights(0, 0), weights(110, 21)},    // main f
                   {2, 1, weights(10, 20), weights(110, 21)},  // main f f
                   {3, 2, weights(100, 1), weights(100, 1)}};  // main f f g
  SourceFile file;
  file.path = "/src/a.c";
  report.files = {file};
  report.lines = {{{0, 7}, 1, weights(4, 20)}};
  return report;
}

TEST(Export, CollapsedStacksAreALineEach) {
  const std::string text = export_profile(profile(), ExportFormat::collapsed, 0);
  std::istringstream in(text);
  std::vector<std::string> stacks;
  for (std::string line; std::getline(in, line);) stacks.push_back(line);
  EXPECT_THAT(stacks, ElementsAre("ma:in\\xff 1", "ma:in\\xff;f\\x0a1 99999\";f\\x0a1 99999\" 10",
                                  "ma:in\\xff;f\\x0a1 99999\";f\\x0a1 99999\";(1) g\\\\ 100"));
  EXPECT_THAT(export_profile(profile(), ExportFormat::collapsed, 1), HasSubstr("\" 20\n"));
}

TEST(Export, SpeedscopeHasAProfileForEachEvent) {
  const json file = parse_json(export_profile(profile(), ExportFormat::speedscope, 0));
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  ASSERT_EQ(file["profiles"].size(), 2u);
  const std::vector<u64> totals{111, 21};
  for (std::size_t event = 0; event < 2; ++event) {
    const json& samples = file["profiles"][event];
    u64 sum = 0;
    for (const json& weight : samples["weights"]) sum += weight.get<u64>();
    EXPECT_EQ(sum, totals[event]);
    EXPECT_EQ(samples["endValue"], totals[event]);
    EXPECT_EQ(samples["weights"].size(), samples["samples"].size());
    for (const json& stack : samples["samples"])
      for (const json& frame : stack) EXPECT_LT(frame.get<std::size_t>(), file["shared"]["frames"].size());
  }
  EXPECT_EQ(file["profiles"][0]["samples"][2], parse_json("[0,1,1,2]"));
  EXPECT_EQ(file["shared"]["frames"][2]["name"], "(1) g\\\\");
}

/// What callgrind_annotate makes of a file: costs of functions by number, and what their callers pass on.
struct Callgrind {
  std::map<std::string, std::vector<u64>> self, inclusive;
  std::vector<u64> total;
  std::size_t events = 0;
};

std::vector<u64> numbers(const std::string& line) {
  std::istringstream in(line);
  std::vector<u64> all;
  for (u64 number = 0; in >> number;) all.push_back(number);
  return all;
}

void add(std::vector<u64>& sums, const std::vector<u64>& line) {
  sums.resize(line.size() - 1);
  for (std::size_t i = 1; i < line.size(); ++i) sums[i - 1] += line[i];
}

Callgrind read_callgrind(const std::string& text) {
  Callgrind file;
  std::istringstream in(text);
  std::string function, callee;
  bool is_call = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("events: ")) file.events = static_cast<std::size_t>(std::ranges::count(line, ' '));
    if (line.starts_with("fn=(")) function = line.substr(4, line.find(')') - 4);
    if (line.starts_with("cfn=(")) callee = line.substr(5, line.find(')') - 5);
    if (line.empty() || line[0] < '0' || line[0] > '9') {
      is_call = line.starts_with("calls=");
      continue;
    }
    const std::vector<u64> costs = numbers(line);
    if (!is_call) add(file.self[function], costs);
    if (!is_call) add(file.total, costs);
    if (is_call) add(file.inclusive[callee], costs);
    is_call = false;
  }
  return file;
}

TEST(Export, CallgrindsInclusiveCostsAreThoseOfChildren) {
  const std::string text = export_profile(profile(), ExportFormat::callgrind, 0);
  EXPECT_THAT(text, HasSubstr("\nevents: cycles_upp branch_misses_\n"));
  EXPECT_THAT(text, HasSubstr("\nsummary: 111 21\n"));
  EXPECT_THAT(text, HasSubstr("fl=(1) /src/a.c\n"));
  EXPECT_THAT(text, HasSubstr("\n7 4 20\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n1 99999")));
  const Callgrind file = read_callgrind(text);
  EXPECT_EQ(file.events, 2u);
  EXPECT_THAT(file.total, ElementsAre(111, 21));
  EXPECT_THAT(file.self.at("2"), ElementsAre(10, 20));
  EXPECT_THAT(file.inclusive.at("1"), ElementsAre(111, 21));
  EXPECT_THAT(file.inclusive.at("2"), ElementsAre(110, 21));
  EXPECT_THAT(file.inclusive.at("3"), ElementsAre(100, 1));
}

/// A message of protocol buffers: numbers and bytes by field.
struct Message {
  std::map<u64, std::vector<u64>> numbers;
  std::map<u64, std::vector<std::string>> bytes;
};

u64 take_varint(const std::string& text, std::size_t& at) {
  u64 value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<u8>(text.at(at++));
    value |= u64{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
}

Message read_message(const std::string& text) {
  Message message;
  for (std::size_t at = 0; at < text.size();) {
    const u64 key = take_varint(text, at), value = take_varint(text, at);
    if (key % 8 == 0) {
      message.numbers[key / 8].push_back(value);
    } else {
      EXPECT_EQ(key % 8, 2u) << "of the wire types a profile needs two";
      message.bytes[key / 8].push_back(text.substr(at, value));
      at += value;
    }
  }
  return message;
}

std::vector<u64> read_packed(const std::string& text) {
  std::vector<u64> all;
  for (std::size_t at = 0; at < text.size();) all.push_back(take_varint(text, at));
  return all;
}

// Field numbers as in profile.proto.
TEST(Export, PprofHasTheStacksInnermostFirst) {
  const Message file = read_message(export_profile(profile(), ExportFormat::pprof, 0));
  const std::vector<std::string>& strings = file.bytes.at(6);
  EXPECT_EQ(strings.at(0), "");
  ASSERT_EQ(file.bytes.at(1).size(), 2u);
  EXPECT_EQ(strings.at(read_message(file.bytes.at(1)[0]).numbers.at(1).at(0)), "cycles:upp");
  std::vector<u64> totals(2);
  std::vector<std::vector<u64>> stacks;
  for (const std::string& bytes : file.bytes.at(2)) {
    const Message sample = read_message(bytes);
    const std::vector<u64> values = read_packed(sample.bytes.at(2).at(0));
    ASSERT_EQ(values.size(), 2u);
    for (std::size_t event = 0; event < 2; ++event) totals[event] += values[event];
    stacks.push_back(read_packed(sample.bytes.at(1).at(0)));
  }
  EXPECT_THAT(totals, ElementsAre(111, 21));
  EXPECT_THAT(stacks, ElementsAre(ElementsAre(1), ElementsAre(2, 2, 1), ElementsAre(3, 2, 2, 1)));
  std::map<u64, std::string> names;  // of functions
  for (const std::string& bytes : file.bytes.at(5)) {
    const Message function = read_message(bytes);
    names[function.numbers.at(1).at(0)] = strings.at(function.numbers.at(2).at(0));
  }
  EXPECT_EQ(names.at(3), "(1) g\\\\");
  for (const std::string& bytes : file.bytes.at(4)) {
    const Message location = read_message(bytes);
    EXPECT_EQ(location.numbers.at(2).at(0), 1u) << "the one mapping";
    EXPECT_TRUE(names.contains(read_message(location.bytes.at(4).at(0)).numbers.at(1).at(0)));
  }
}

TEST(Export, ChromesFramesHaveTheirParents) {
  const json file = parse_json(export_profile(profile(), ExportFormat::chrome, 0));
  u64 total = 0;
  for (const json& sample : file["samples"]) {
    EXPECT_EQ(sample["ts"], total);
    total += sample["weight"].get<u64>();
    std::string frame = std::to_string(sample["sf"].get<u64>());
    while (file["stackFrames"][frame].contains("parent")) frame = file["stackFrames"][frame]["parent"];
    EXPECT_EQ(file["stackFrames"][frame]["name"], "ma;in\\xff");
  }
  EXPECT_EQ(total, 111u);
}

/// All columns of a table have its length, and where they refer to another table, to a row of it.
void expect_table(const json& table, const std::map<std::string, std::size_t>& sizes_of_others) {
  for (const auto& [name, column] : table.items()) {
    if (!column.is_array()) continue;
    EXPECT_EQ(column.size(), table["length"]) << name;
    for (const json& value : column)
      if (sizes_of_others.contains(name) && !value.is_null()) {
        EXPECT_LT(value.get<std::size_t>(), sizes_of_others.at(name)) << name;
      }
  }
}

// Tables and columns as in src/types/profile.ts of the Firefox Profiler; a test of the command has its own
// importer read such a file.
TEST(Export, FirefoxHasAThreadForEachEvent) {
  const json file = parse_json(export_profile(profile(), ExportFormat::firefox, 0));
  const json& shared = file["shared"];
  const auto length = [&](const char* table) { return shared[table]["length"].get<std::size_t>(); };
  const std::size_t strings = shared["stringArray"].size();
  expect_table(shared["stackTable"], {{"frame", length("frameTable")}, {"prefix", length("stackTable")}});
  expect_table(shared["frameTable"],
               {{"func", length("funcTable")}, {"category", file["meta"]["categories"].size()}});
  expect_table(shared["funcTable"], {{"name", strings}, {"resource", length("resourceTable")}});
  expect_table(shared["resourceTable"], {{"name", strings}, {"lib", file["libs"].size()}});
  for (const char* const table : {"sources", "nativeSymbols"}) EXPECT_EQ(length(table), 0u);
  EXPECT_EQ(file["libs"][0]["codeId"], "abcd");
  EXPECT_EQ(file["meta"]["categories"][0]["color"], "grey");

  ASSERT_EQ(file["threads"].size(), 2u);
  const std::vector<u64> totals{111, 21};
  for (std::size_t event = 0; event < 2; ++event) {
    const json& samples = file["threads"][event]["samples"];
    expect_table(samples, {{"stack", length("stackTable")}});
    u64 sum = 0;
    for (const json& weight : samples["weight"]) sum += weight.get<u64>();
    EXPECT_EQ(sum, totals[event]);
    EXPECT_TRUE(std::ranges::is_sorted(samples["time"]));
  }
  std::vector<std::string> names;
  json at = file["threads"][0]["samples"]["stack"][2];
  for (; !at.is_null(); at = shared["stackTable"]["prefix"][at.get<std::size_t>()]) {
    const json& frame = shared["stackTable"]["frame"][at.get<std::size_t>()];
    const json& function = shared["frameTable"]["func"][frame.get<std::size_t>()];
    names.push_back(
        shared["stringArray"][shared["funcTable"]["name"][function.get<std::size_t>()].get<std::size_t>()]);
  }
  EXPECT_THAT(names, ElementsAre("(1) g\\\\", "f\\x0a1 99999\"", "f\\x0a1 99999\"", "ma;in\\xff"));
}

TEST(Export, WithoutCallStacksASymbolIsAStack) {
  Report report = profile();
  report.stacks.clear();
  report.stack_source = StackSource::none;
  EXPECT_EQ(export_profile(report, ExportFormat::collapsed, 0),
            "ma:in\\xff 1\nf\\x0a1 99999\" 10\n(1) g\\\\ 100\n");
}

TEST(Export, FormatsAreFoundByTheirNames) {
  for (const std::string_view name : export_format_names()) {
    ASSERT_TRUE(find_export_format(name).has_value());
    EXPECT_EQ(name_of(*find_export_format(name)), name);
  }
  EXPECT_FALSE(find_export_format("collapse").has_value());
}

}  // namespace
}  // namespace pmusim::annotate::export_test
