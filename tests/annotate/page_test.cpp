// SPDX-License-Identifier: MIT
// The page holds the report's JSON in a form of its own: unpacked as its script does it
// (src/annotate/page/helpers.js), it is what to_json() says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "pmusim/annotate/report.h"
#include "tests/support/json.h"

namespace pmusim::annotate {
namespace {

using Json = nlohmann::json;
using test::parse_json;
using testing::HasSubstr;
using testing::Not;

/// The text of the element with this id.
std::string element(const std::string& page, const std::string& id) {
  const std::string begin = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t at = page.find(begin);
  if (at == std::string::npos) return {};
  return page.substr(at + begin.size(), page.find("</script>", at) - at - begin.size());
}

/// Integers that JavaScript would round are text on the page.
Json number(const Json& value) {
  return value.is_string() ? Json(std::stoull(value.get<std::string>())) : value;
}

/// Rows of `width` values of a flat list.
std::vector<std::vector<Json>> rows(const Json& flat, std::size_t width) {
  EXPECT_EQ(flat.size() % width, 0u);
  std::vector<std::vector<Json>> all;
  for (std::size_t at = 0; at + width <= flat.size(); at += width) {
    all.emplace_back();
    for (std::size_t i = 0; i < width; ++i) all.back().push_back(number(flat[at + i]));
  }
  return all;
}

/// Rows [number, value...] as a row for each of `size`: what is said once holds until something else is said.
std::vector<std::vector<Json>> filled(const Json& flat, std::size_t width, std::size_t size) {
  std::vector<std::vector<Json>> all;
  const auto said = rows(flat, width);
  for (std::size_t n = 0, next = 0; n < size; ++n) {
    if (next < said.size() && said[next][0] == n) ++next;
    EXPECT_GT(next, 0u) << "nothing is said of the first";
    all.push_back(next == 0 ? std::vector<Json>(width) : said[next - 1]);
  }
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all{""};
  for (const char c : text) {
    if (c == '\n')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

/// Instructions of a packed function, as to_json() has them.
Json unpacked_instructions(const Json& f, std::size_t events) {
  const std::size_t size = f["bytes"].size();
  const auto texts = lines(f["texts"]);
  const auto where = filled(f["where"], 3, size), inlined = filled(f["inlined"], 2, size);
  const auto coverage = filled(f["coverage"], 3, size);
  std::map<u64, u64> addresses;
  for (const auto& row : rows(f["addresses"], 2)) addresses[row[0].get<u64>()] = row[1].get<u64>();
  Json all = Json::array();
  Json none = Json::array();
  for (std::size_t e = 0; e < events; ++e) none.push_back({{"samples", 0}, {"period", 0}});
  u64 address = 0;
  for (std::size_t n = 0; n < size; ++n) {
    if (addresses.contains(n)) address = addresses[n];
    all.push_back({{"address", address},
                   {"bytes", f["bytes"][n]},
                   {"text", texts.at(n)},
                   {"where", where[n][1].is_null() ? Json(nullptr)
                                                   : Json{{"file", where[n][1]}, {"line", where[n][2]}}},
                   {"inlined", inlined[n][1]},
                   {"weights", none},
                   {"coverage", coverage[n][1]},
                   {"heat", coverage[n][2]}});
    address += f["bytes"][n].get<u64>();
  }
  for (const auto& row : rows(f["weights"], 1 + 2 * events))
    for (std::size_t e = 0; e < events; ++e)
      all[row[0].get<std::size_t>()]["weights"][e] = {{"samples", row[1 + 2 * e]},
                                                      {"period", row[2 + 2 * e]}};
  for (const auto& row : rows(f["joins"], 3))
    all[row[0].get<std::size_t>()]["join"] = {{"entries", row[1]}, {"percent", row[2]}};
  for (const auto& row : rows(f["leaves"], 6))
    all[row[0].get<std::size_t>()]["leave"] = {{"taken", row[1]},
                                               {"predicted", row[2]},
                                               {"mispredicted", row[3]},
                                               {"percent", row[4]},
                                               {"predicted_percent", row[5]}};
  return all;
}

Json without_jump_targets(Json instructions) {
  for (Json& instruction : instructions) instruction.erase("jump_target");
  return instructions;
}

/// Any report that hangs together, with what is hard to write down: names with markup, addresses of a kernel.
class Dice {
 public:
  explicit Dice(u32 seed) : random_(seed) {}
  u64 below(u64 n) { return random_() % n; }
  bool coin() { return below(2) != 0; }
  double fraction() { return static_cast<double>(below(1 << 20)) / 1024; }
  std::optional<double> maybe_fraction() { return coin() ? std::optional(fraction()) : std::nullopt; }
  std::string word() {
    const std::string letters = "ab <>\"\\/@-1. e";
    std::string text;
    for (u64 n = below(12); n > 0; --n) text += letters[below(letters.size())];
    return text;
  }
  Report report() {
    Report r;
    r.input = "</script>" + word();
    r.notes = {word(), "-12", "12345678901234567890"};
    for (u64 n = 1 + below(2); n > 0; --n) r.events.push_back({word(), weight()});
    r.modules = {{word(), "00ff", "", weights(r)}};
    r.symbols = {
        {word(), "f", 0, 0xFFFFFFFF81000000, 0xFFFFFFFF82000000, weights(r), weights(r), below(100), 0}};
    r.files = {{"/a.c", {"first", "</script>", "third \"\\"}}, {"/b.c", {}}};
    for (u64 n = below(3); n > 0; --n) r.lines.push_back({{0, static_cast<u32>(below(5))}, 0, weights(r)});
    r.functions = {function(r)};
    return r;
  }

 private:
  Weight weight() { return coin() ? Weight{} : Weight{1 + below(9), u64{1} << below(64)}; }
  Weights weights(const Report& r) {
    Weights all(r.events.size());
    for (Weight& each : all) each = weight();
    return all;
  }
  Instruction instruction(const Report& r, u64 address) {
    Instruction i{.address = address, .bytes = static_cast<u8>(1 + below(15)), .text = word()};
    if (coin()) i.where = {static_cast<u32>(below(2)), static_cast<u32>(below(4))};
    if (i.where.line == 0) i.where = {};
    if (coin()) i.inlined = static_cast<u32>(below(2));
    i.weights = weights(r);
    i.coverage = below(3);
    if (coin()) i.heat = fraction();
    if (coin()) i.join = {1 + below(9), fraction()};
    if (coin()) i.leave = {1 + below(9), below(9), below(9), fraction(), maybe_fraction()};
    return i;
  }
  AnnotatedFunction function(const Report& r) {
    AnnotatedFunction f{.symbol = 0};
    f.inline_stacks = {{{word(), {}}}, {{"outer", {}}, {"inner", {0, 2}}}};
    u64 address = 0xFFFFFFFF81000000;
    for (u64 n = 1 + below(20); n > 0; --n) {
      f.instructions.push_back(instruction(r, address));
      if (n > 1 && coin()) {  // more of the same
        f.instructions.push_back(f.instructions.back());
        f.instructions.back().address += f.instructions.back().bytes;
      }
      address = f.instructions.back().address + f.instructions.back().bytes + (coin() ? 0 : below(3));
    }
    const auto size = static_cast<u32>(f.instructions.size());
    for (u64 n = below(4); n > 0; --n) {
      Block b{.first_instruction = coin() ? nothing : static_cast<u32>(below(size)), .instructions = 2};
      b.cycles = {.executions = below(3), .sum = below(90), .min = below(5), .max = below(50)};
      if (coin()) b.ipc = fraction();
      f.blocks.push_back(b);
    }
    for (u64 n = below(100); n > 0; --n)
      f.jumps.push_back(
          {static_cast<u32>(below(size)), static_cast<u32>(below(size)), n, below(9), below(9)});
    if (coin()) f.average_ipc = fraction();
    f.ipc_coverage = fraction();
    f.problem = word();
    return f;
  }
  std::mt19937 random_;
};

class RandomReports : public testing::TestWithParam<u32> {
 protected:
  const Report report = Dice(GetParam()).report();
  const std::string page = to_html(report);
  const Json expected = parse_json(to_json(report));
  const Json found = parse_json(element(page, "report"));
  const Json& function = expected["functions"][0];
  const Json& packed = found["functions"][0];
};

TEST_P(RandomReports, HaveTheInstructionsOfTheJsonOnThePage) {
  EXPECT_EQ(unpacked_instructions(packed, report.events.size()),
            without_jump_targets(function["instructions"]));
  for (const char* member : {"symbol", "problem", "average_ipc", "ipc_coverage"})
    EXPECT_EQ(packed[member], function[member]);
}

TEST_P(RandomReports, HaveOnThePageTheBlocksWithCycles) {
  Json timed = Json::array();
  for (const Json& b : function["blocks"])
    if (!b["cycles"].is_null() && !b["first_instruction"].is_null())
      timed.push_back({b["first_instruction"], b["instructions"], b["cycles"]["executions"],
                       b["cycles"]["sum"], b["cycles"]["min"], b["cycles"]["max"], b["ipc"]});
  EXPECT_EQ(Json(rows(packed["blocks"], 7)), timed);
}

TEST_P(RandomReports, HaveThe64FirstJumpsAndInlinedNamesOnThePage) {
  Json jumps = Json::array();
  for (const Json& j : function["jumps"])
    if (jumps.size() < 64)
      jumps.push_back({j["from"], j["to"], j["taken"], j["predicted"], j["mispredicted"]});
  EXPECT_EQ(Json(rows(packed["jumps"], 5)), jumps);
  Json stacks = Json::array();
  for (const Json& stack : function["inline_stacks"]) {
    stacks.push_back(Json::array());
    for (const Json& frame : stack) stacks.back().push_back(frame["function"]);
  }
  EXPECT_EQ(packed["inline_stacks"], stacks);
}

/// The same, but for integers of more than 15 digits, which are text.
void expect_same(const Json& page, const Json& json) {
  if (json.is_structured()) {
    ASSERT_EQ(page.type(), json.type());
    ASSERT_EQ(page.size(), json.size());
    for (const auto& [key, value] : json.items())
      expect_same(json.is_array() ? page[static_cast<std::size_t>(std::stoul(key))] : page[key], value);
  } else if (json.is_number_integer() && json.dump().size() > 15) {
    EXPECT_EQ(page, Json(json.dump()));
  } else {
    EXPECT_EQ(page, json);
    EXPECT_EQ(page.type(), json.type());
  }
}
TEST_P(RandomReports, HaveEverythingElseOnThePageAsInTheJson) {
  Json rest = found, wanted = expected;
  rest.erase("functions");
  wanted.erase("functions");
  expect_same(rest, wanted);
  EXPECT_THAT(element(page, "report"), Not(HasSubstr("<")));
}

// A line that the report mentions is there once, others are not.
TEST_P(RandomReports, HaveOnThePageTheSourceLinesThatTheyMention) {
  Json wanted = Json::object();
  const auto want = [&](const Json& where) {
    if (where.is_null()) return;
    const auto& text = report.files[where["file"].get<std::size_t>()].lines;
    const std::size_t line = where["line"].get<std::size_t>();
    if (line <= text.size()) wanted[where["file"].dump()][std::to_string(line)] = text[line - 1];
  };
  for (const Json& line : expected["lines"]) want(line["where"]);
  for (const Json& instruction : function["instructions"]) want(instruction["where"]);
  EXPECT_EQ(parse_json(element(page, "sources")), wanted);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomReports, testing::Range(0u, 30u));

TEST(Page, HasNoMarkLeftInIt) {
  const std::string page = to_html({});
  for (const char* mark : {"@STYLE@", "@HELPERS@", "@CODE@", "@VIEWS@", "@PAGE@", "@REPORT@", "@SOURCES@"})
    EXPECT_THAT(page, Not(HasSubstr(mark)));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n")) << page.substr(page.size() - 40);
}

}  // namespace
}  // namespace pmusim::annotate
