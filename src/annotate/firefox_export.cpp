// SPDX-License-Identifier: MIT
#include "annotate/firefox_export.h"

#include <map>
#include <vector>

#include "annotate/frame_tree.h"
#include "annotate/json.h"
#include "annotate/stack_list.h"
#include "base/base_name.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

/// Of the processed format and of the one that Firefox itself writes. Newer viewers read older versions.
constexpr int processed_version = 60, gecko_version = 32;
/// ResourceTable::type of code from a file.
constexpr int library = 1;

Json repeated(const Json& value, std::size_t times) { return Json(times, value); }

/// Strings are referred to by number.
class FirefoxStrings {
 public:
  u64 operator()(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return place->second;
  }
  Json take() { return std::move(strings_); }

 private:
  std::map<std::string, u64> numbers_;
  Json strings_ = Json::array();
};

/// A table is an object of columns; one row here stands for a symbol, a module or a node of the stacks.
class FirefoxWriter {
 public:
  explicit FirefoxWriter(const Report& report) : report_(report), stacks_(listed_stacks(report)) {
    for (const ListedStack& stack : stacks_) innermost_.push_back(tree_.add(stack.symbols));
  }

  std::string text() {
    Json threads = Json::array();
    for (u32 event = 0; event < report_.events.size(); ++event) threads.push_back(thread(event));
    const Json all{
        {"meta", meta()}, {"libs", libraries()}, {"shared", shared()}, {"threads", std::move(threads)}};
    return all.dump() + '\n';
  }

 private:
  Json meta() const {
    const Json other{{"name", "Other"}, {"color", "grey"}, {"subcategories", {"Other"}}};
    return {{"interval", 1},
            {"startTime", 0},
            {"processType", 0},
            {"categories", Json::array({other})},
            {"product", printable(report_.input)},
            {"importedFrom", "pmusim"},
            {"arguments", printable(report_.command_line)},
            {"CPUName", printable(report_.cpu)},
            {"stackwalk", 1},
            {"version", gecko_version},
            {"preprocessedProfileVersion", processed_version},
            {"symbolicated", true},
            {"symbolicationNotSupported", true},
            {"usesOnlyOneStackType", true},
            {"sourceCodeIsNotOnSearchfox", true},
            {"keepProfileThreadOrder", true},
            {"markerSchema", Json::array()}};
  }

  Json libraries() const {
    Json libs = Json::array();
    for (const Module& module : report_.modules) {
      const std::string path = printable(module.path), name = base_name(path);
      libs.push_back({{"arch", "x86_64"},
                      {"name", name},
                      {"path", path},
                      {"debugName", name},
                      {"debugPath", path},
                      {"breakpadId", ""},
                      {"codeId", module.build_id.empty() ? Json(nullptr) : Json(module.build_id)}});
    }
    return libs;
  }

  /// What is the same for all events.
  Json shared() {
    const Json none = Json::array();
    Json tables{
        {"sources", {{"id", none}, {"filename", none}, {"length", 0}}},
        {"stackTable", stack_table()},
        {"frameTable", frame_table()},
        {"funcTable", function_table()},
        {"resourceTable", resource_table()},
        {"nativeSymbols",
         {{"libIndex", none}, {"address", none}, {"name", none}, {"functionSize", none}, {"length", 0}}}};
    tables["stringArray"] = strings_.take();
    return tables;
  }

  Json stack_table() const {
    Json frames = Json::array(), prefixes = Json::array();
    for (const FrameTree::Node& node : tree_.nodes()) {
      frames.push_back(node.symbol);
      prefixes.push_back(node.parent ? Json(*node.parent) : Json(nullptr));
    }
    return {{"frame", std::move(frames)}, {"prefix", std::move(prefixes)}, {"length", tree_.nodes().size()}};
  }

  Json frame_table() const {
    const std::size_t size = report_.symbols.size();
    Json functions = Json::array();
    for (std::size_t symbol = 0; symbol < size; ++symbol) functions.push_back(symbol);
    return {{"address", repeated(-1, size)},      {"inlineDepth", repeated(0, size)},
            {"category", repeated(0, size)},      {"subcategory", repeated(0, size)},
            {"func", std::move(functions)},       {"nativeSymbol", repeated(nullptr, size)},
            {"innerWindowID", repeated(0, size)}, {"line", repeated(nullptr, size)},
            {"column", repeated(nullptr, size)},  {"length", size}};
  }

  Json function_table() {
    const std::size_t size = report_.symbols.size();
    Json names = Json::array(), resources = Json::array();
    for (u32 symbol = 0; symbol < size; ++symbol) {
      names.push_back(strings_(frame_name(report_, symbol)));
      resources.push_back(report_.symbols[symbol].module);
    }
    return {{"name", std::move(names)},
            {"isJS", repeated(false, size)},
            {"relevantForJS", repeated(false, size)},
            {"resource", std::move(resources)},
            {"source", repeated(nullptr, size)},
            {"lineNumber", repeated(nullptr, size)},
            {"columnNumber", repeated(nullptr, size)},
            {"length", size}};
  }

  Json resource_table() {
    const std::size_t size = report_.modules.size();
    Json libs = Json::array(), names = Json::array();
    for (std::size_t module = 0; module < size; ++module) {
      libs.push_back(module);
      names.push_back(strings_(printable(base_name(report_.modules[module].path))));
    }
    return {{"lib", std::move(libs)},
            {"name", std::move(names)},
            {"host", repeated(nullptr, size)},
            {"type", repeated(library, size)},
            {"length", size}};
  }

  /// A profile has no time: samples stand one behind the other, a millisecond each.
  Json samples(u32 event) const {
    Json stacks = Json::array(), times = Json::array(), weights = Json::array();
    for (std::size_t n = 0; n < stacks_.size(); ++n) {
      if (stacks_[n].weights[event].period == 0) continue;
      times.push_back(stacks.size());
      stacks.push_back(innermost_[n]);
      weights.push_back(stacks_[n].weights[event].period);
    }
    const std::size_t size = stacks.size();
    return {{"stack", std::move(stacks)},
            {"time", std::move(times)},
            {"weight", std::move(weights)},
            {"weightType", "samples"},
            {"length", size}};
  }

  Json thread(u32 event) const {
    const Json no_markers{{"data", Json::array()},
                          {"name", Json::array()},
                          {"startTime", Json::array()},
                          {"endTime", Json::array()},
                          {"phase", Json::array()},
                          {"category", Json::array()},
                          {"length", 0}};
    return {{"processType", "default"},
            {"processStartupTime", 0},
            {"processShutdownTime", nullptr},
            {"registerTime", 0},
            {"unregisterTime", nullptr},
            {"pausedRanges", Json::array()},
            {"name", printable(report_.events[event].name)},
            {"isMainThread", event == 0},
            {"processName", printable(base_name(report_.input))},
            {"pid", "1"},
            {"tid", event + 1},
            {"samples", samples(event)},
            {"markers", no_markers}};
  }

  const Report& report_;
  std::vector<ListedStack> stacks_;
  std::vector<u32> innermost_;  // nodes of `stacks_`
  FrameTree tree_;
  FirefoxStrings strings_;
};

}  // namespace

std::string to_firefox(const Report& report, u32) { return FirefoxWriter(report).text(); }

}  // namespace pmusim::annotate
