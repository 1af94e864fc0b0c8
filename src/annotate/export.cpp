// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/printable.h"
#include "code_counts.h"
#include "firefox_export.h"
#include "frame_tree.h"
#include "json.h"
#include "pmusim/annotate/report.h"
#include "protobuf_writer.h"
#include "stack_list.h"

namespace pmusim::annotate {

namespace {

std::string to_collapsed(const Report& report, u32 event) {
  std::string text;
  for (const ListedStack& stack : listed_stacks(report)) {
    if (stack.weights[event].period == 0) continue;
    for (std::size_t at = 0; at < stack.symbols.size(); ++at) {
      std::string name = frame_name(report, stack.symbols[at]);
      std::ranges::replace(name, ';', ':');  // which ends a frame
      text += (at == 0 ? "" : ";") + name;
    }
    text += fmt::format(" {}\n", stack.weights[event].period);
  }
  return text;
}

std::string to_speedscope(const Report& report, u32) {
  Json frames = Json::array(), profiles = Json::array();
  for (u32 symbol = 0; symbol < report.symbols.size(); ++symbol)
    frames.push_back({{"name", frame_name(report, symbol)}, {"file", module_name(report, symbol)}});
  const std::vector<ListedStack> stacks = listed_stacks(report);
  for (u32 event = 0; event < report.events.size(); ++event) {
    Json samples = Json::array(), weights = Json::array();
    u64 total = 0;
    for (const ListedStack& stack : stacks) {
      if (stack.weights[event].period == 0) continue;
      samples.push_back(stack.symbols);
      weights.push_back(stack.weights[event].period);
      total += stack.weights[event].period;
    }
    profiles.push_back({{"type", "sampled"},
                        {"name", printable(report.events[event].name)},
                        {"unit", "none"},
                        {"startValue", 0},
                        {"endValue", total},
                        {"samples", std::move(samples)},
                        {"weights", std::move(weights)}});
  }
  const Json all{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                 {"exporter", "pmusim"},
                 {"name", printable(report.input)},
                 {"activeProfileIndex", 0},
                 {"shared", {{"frames", std::move(frames)}}},
                 {"profiles", std::move(profiles)}};
  return all.dump() + '\n';
}

/// Costs of a function, and of its calls.
struct CallgrindFunction {
  std::map<SourcePosition, Weights, bool (*)(const SourcePosition&, const SourcePosition&)> self{
      [](const SourcePosition& a, const SourcePosition& b) {
        return std::pair(a.file, a.line) < std::pair(b.file, b.line);
      }};
  struct Call {
    u64 samples = 0;
    Weights cost;
  };
  std::map<u32, Call> calls;
};

class CallgrindWriter {
 public:
  explicit CallgrindWriter(const Report& report)
      : report_(report),
        all_(static_cast<u32>(report.symbols.size())),
        functions_(report.symbols.size() + 1) {
    add_lines();
    for (const ListedStack& stack : listed_stacks(report)) add_calls(stack);
  }

  std::string text() {
    text_ = "# callgrind format\nversion: 1\ncreator: pmusim\n";
    if (!report_.command_line.empty()) text_ += fmt::format("cmd: {}\n", printable(report_.command_line));
    text_ += "positions: line\nevents:";
    for (const Event& event : report_.events) text_ += ' ' + event_name(event.name);
    text_ += "\nsummary:";
    for (const Event& event : report_.events) text_ += fmt::format(" {}", event.total.period);
    text_ += '\n';
    for (u32 symbol = 0; symbol < functions_.size(); ++symbol) write(symbol);
    return std::move(text_);
  }

 private:
  /// What lines are known of, and for the rest line 0 of no file.
  void add_lines() {
    for (const RankedLine& line : report_.lines) add(functions_[line.symbol].self[line.where], line.weights);
    for (u32 symbol = 0; symbol < all_; ++symbol) {
      Weights rest = report_.symbols[symbol].weights;
      for (const auto& [where, weights] : functions_[symbol].self)
        for (std::size_t e = 0; e < rest.size(); ++e) rest[e].period -= weights[e].period;
      if (std::ranges::any_of(rest, [](const Weight& weight) { return weight.period != 0; }))
        add(functions_[symbol].self[{}], rest);
    }
  }

  /// Readers take what a function's callers passed on for its inclusive cost: of a function that is in the
  /// stack more than once the outermost call has it, and the outermost function is called by all_.
  void add_calls(const ListedStack& stack) {
    const auto& symbols = stack.symbols;
    for (auto callee = symbols.begin(); callee != symbols.end(); ++callee) {
      if (std::find(symbols.begin(), callee, *callee) != callee) continue;
      const u32 caller = callee == symbols.begin() ? all_ : *std::prev(callee);
      CallgrindFunction::Call& call = functions_[caller].calls[*callee];
      for (const Weight& weight : stack.weights) call.samples += weight.samples;
      add(call.cost, stack.weights);
    }
  }

  /// A word of letters, digits and the like.
  static std::string event_name(const std::string& name) {
    std::string word;
    for (const char c : name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      word += plain ? c : '_';
    }
    return word.empty() || (word[0] >= '0' && word[0] <= '9') ? "e_" + word : word;
  }

  static std::string costs(const Weights& weights) {
    std::string text;
    for (const Weight& weight : weights) text += fmt::format(" {}", weight.period);
    return text + '\n';
  }
  std::string file_name(u32 file) const {
    if (file == nothing) return fmt::format("({}) ???", report_.files.size() + 1);
    return fmt::format("({}) {}", file + 1, printable(report_.files[file].path));
  }
  /// Numbers keep functions of one name apart, and names that look like a number.
  std::string function_name(u32 symbol) const {
    return fmt::format("({}) {}", symbol + 1, symbol == all_ ? "[all]" : frame_name(report_, symbol));
  }
  std::string object_name(u32 symbol) const {
    if (symbol == all_) return fmt::format("({}) [all]", report_.modules.size() + 1);
    return fmt::format("({}) {}", report_.symbols[symbol].module + 1, module_name(report_, symbol));
  }
  /// The file that most of a function's lines are in.
  u32 file_of(u32 symbol) const {
    u32 file = nothing;
    u64 most = 0;
    for (const auto& [where, weights] : functions_[symbol].self)
      if (where.file != nothing && weights[0].period >= most) file = where.file, most = weights[0].period;
    return file;
  }

  void write(u32 symbol) {
    const CallgrindFunction& function = functions_[symbol];
    if (function.self.empty() && function.calls.empty()) return;
    const u32 home = file_of(symbol);
    text_ +=
        fmt::format("\nob={}\nfl={}\nfn={}\n", object_name(symbol), file_name(home), function_name(symbol));
    for (const auto& [where, weights] : function.self) {
      if (where.line != 0 && where.file != home)
        text_ += fmt::format("fi={}\n{}{}fe={}\n", file_name(where.file), where.line, costs(weights),
                             file_name(home));
      else
        text_ += fmt::format("{}{}", where.line, costs(weights));
    }
    for (const auto& [callee, call] : function.calls)
      text_ += fmt::format("cob={}\ncfi={}\ncfn={}\ncalls={} 0\n0{}", object_name(callee),
                           file_name(file_of(callee)), function_name(callee), std::max<u64>(call.samples, 1),
                           costs(call.cost));
  }

  const Report& report_;
  u32 all_;                                   // the number of what calls the outermost functions
  std::vector<CallgrindFunction> functions_;  // by symbol
  std::string text_;
};

std::string to_callgrind(const Report& report, u32) { return CallgrindWriter(report).text(); }

/// The string table of a profile.proto: strings are referred to by number.
class StringTable {
 public:
  u64 operator()(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::map<std::string, u64> numbers_{{"", 0}};
  std::vector<std::string> strings_{""};
};

/// Field numbers of profile.proto.
namespace pprof {
enum Profile : u32 { sample_type = 1, sample, mapping, location, function, string_table, comment = 13 };
enum ValueType : u32 { type = 1, unit };
enum Sample : u32 { location_id = 1, value };
enum Mapping : u32 { mapping_id = 1, filename = 5, build_id, has_functions };
enum Location : u32 { id = 1, in_mapping, address, line };
enum Line : u32 { function_id = 1 };
enum Function : u32 { number = 1, name, system_name };
}  // namespace pprof

/// Ids count from 1: a function and a location for each symbol, a mapping for each module.
std::string to_pprof(const Report& report, u32) {
  ProtobufWriter profile;
  StringTable text;
  for (const Event& event : report.events) {
    ProtobufWriter type;
    type.number(pprof::type, text(printable(event.name))).number(pprof::unit, text("count"));
    profile.message(pprof::sample_type, type);
  }
  for (const ListedStack& stack : listed_stacks(report)) {
    std::vector<u64> locations, values;
    for (std::size_t at = stack.symbols.size(); at-- > 0;) locations.push_back(stack.symbols[at] + u64{1});
    for (const Weight& weight : stack.weights) values.push_back(weight.period);
    ProtobufWriter sample;
    sample.packed(pprof::location_id, locations).packed(pprof::value, values);
    profile.message(pprof::sample, sample);
  }
  for (u64 module = 0; module < report.modules.size(); ++module) {
    ProtobufWriter mapping;
    mapping.number(pprof::mapping_id, module + 1)
        .number(pprof::filename, text(printable(report.modules[module].path)))
        .number(pprof::build_id, text(report.modules[module].build_id))
        .number(pprof::has_functions, 1);
    profile.message(pprof::mapping, mapping);
  }
  for (u32 symbol = 0; symbol < report.symbols.size(); ++symbol) {
    ProtobufWriter line, location, function;
    line.number(pprof::function_id, symbol + u64{1});
    location.number(pprof::id, symbol + u64{1})
        .number(pprof::in_mapping, report.symbols[symbol].module + u64{1})
        .number(pprof::address, report.symbols[symbol].start)
        .message(pprof::line, line);
    profile.message(pprof::location, location);
    function.number(pprof::number, symbol + u64{1})
        .number(pprof::name, text(frame_name(report, symbol)))
        .number(pprof::system_name, text(printable(report.symbols[symbol].linkage_name)));
    profile.message(pprof::function, function);
  }
  for (const std::string& string : text.strings()) profile.bytes(pprof::string_table, string);
  return profile.take();
}

/// Nodes by number, as stackFrames has them.
Json chrome_frames(const Report& report, const FrameTree& tree) {
  Json frames = Json::object();
  for (std::size_t number = 0; number < tree.nodes().size(); ++number) {
    const FrameTree::Node& node = tree.nodes()[number];
    Json frame{{"category", module_name(report, node.symbol)}, {"name", frame_name(report, node.symbol)}};
    if (node.parent) frame["parent"] = fmt::format("{}", *node.parent);
    frames[fmt::format("{}", number)] = std::move(frame);
  }
  return frames;
}

/// A profile has no time: samples stand one behind the other, as wide as they weigh.
std::string to_chrome(const Report& report, u32 event) {
  FrameTree frames;
  Json samples = Json::array();
  u64 position = 0;
  for (const ListedStack& stack : listed_stacks(report)) {
    const u64 weight = stack.weights[event].period;
    if (weight == 0) continue;
    samples.push_back({{"cpu", 0},
                       {"tid", 1},
                       {"ts", position},
                       {"name", printable(report.events[event].name)},
                       {"sf", frames.add(stack.symbols)},
                       {"weight", weight}});
    position += weight;
  }
  const Json all{{"traceEvents", Json::array()},
                 {"displayTimeUnit", "ns"},
                 {"stackFrames", chrome_frames(report, frames)},
                 {"samples", std::move(samples)}};
  return all.dump() + '\n';
}

struct FormatRow {
  ExportFormat format;
  std::string_view name;
  bool all_events;
  std::string (*write)(const Report& report, u32 event);
};

constexpr std::array formats{
    FormatRow{ExportFormat::collapsed, "collapsed", false, to_collapsed},
    FormatRow{ExportFormat::speedscope, "speedscope", true, to_speedscope},
    FormatRow{ExportFormat::callgrind, "callgrind", true, to_callgrind},
    FormatRow{ExportFormat::pprof, "pprof", true, to_pprof},
    FormatRow{ExportFormat::chrome, "chrome", false, to_chrome},
    FormatRow{ExportFormat::firefox, "firefox", true, to_firefox},
};

const FormatRow& row_of(ExportFormat format) {
  return *std::ranges::find(formats, format, &FormatRow::format);
}

}  // namespace

std::string_view name_of(ExportFormat format) { return row_of(format).name; }

std::optional<ExportFormat> find_export_format(std::string_view name) {
  const auto row = std::ranges::find(formats, name, &FormatRow::name);
  return row == formats.end() ? std::nullopt : std::optional(row->format);
}

std::vector<std::string_view> export_format_names() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : formats) names.push_back(row.name);
  return names;
}

bool holds_all_events(ExportFormat format) { return row_of(format).all_events; }

Options options_for_export(Options options) {
  options.max_lines = ~u32{0};
  options.max_functions = options.max_branches = options.max_paths = 0;
  options.min_stack_share = 0;
  return options;
}

std::string export_profile(const Report& report, ExportFormat format, u32 event) {
  return row_of(format).write(report, event);
}

}  // namespace pmusim::annotate
