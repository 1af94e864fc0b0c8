// SPDX-License-Identifier: MIT
#include "json.h"

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

namespace {

/// All conversions in one scope, so that list() finds those of what it holds.
struct Convert {
  template <class Item>
  static Json list(const std::vector<Item>& items) {
    return list(items, [](const Item& item) { return json(item); });
  }
  template <class Item, class Function>
  static Json list(const std::vector<Item>& items, Function convert) {
    Json all = Json::array();
    for (const Item& item : items) all.push_back(convert(item));
    return all;
  }

  static Json json(const Weights& weights) {
    return list(weights, [](const Weight& w) { return Json{{"samples", w.samples}, {"period", w.period}}; });
  }

  static Json json(const SourcePosition& where) {
    return where.line == 0 ? Json(nullptr) : Json{{"file", where.file}, {"line", where.line}};
  }

  static Json json(const Place& place) {
    return {{"symbol", index(place.symbol)}, {"address", place.address}, {"where", json(place.where)}};
  }

  static Json json(const Module& m) {
    return {{"path", m.path}, {"build_id", m.build_id}, {"problem", m.problem}, {"weights", json(m.weights)}};
  }

  static Json json(const Symbol& s) {
    return {{"name", s.name},
            {"linkage_name", s.linkage_name},
            {"module", index(s.module)},
            {"start", s.start},
            {"end", s.end},
            {"weights", json(s.weights)},
            {"with_callees", json(s.with_callees)},
            {"max_coverage", s.max_coverage},
            {"function", index(s.function)}};
  }

  static Json json(const SampledTask& t) {
    return {{"pid", t.pid}, {"tid", t.tid}, {"command", t.command}, {"weights", json(t.weights)}};
  }

  static Json json(const SampledCpu& c) {
    return {{"cpu", c.cpu}, {"package", index(c.package)}, {"weights", json(c.weights)}};
  }

  static Json json(const RankedLine& line) {
    return {{"where", json(line.where)}, {"symbol", index(line.symbol)}, {"weights", json(line.weights)}};
  }

  static Json json(const Branch& b) {
    return {
        {"from", json(b.from)},           {"to", json(b.to)}, {"taken", b.taken},  {"predicted", b.predicted},
        {"mispredicted", b.mispredicted}, {"timed", b.timed}, {"cycles", b.cycles}};
  }

  static Json json(const BlockCycles& c) {
    if (c.executions == 0) return nullptr;
    return {{"executions", c.executions}, {"sum", c.sum}, {"min", c.min}, {"max", c.max}};
  }

  static Json json(const Block& b) {
    return {{"first", b.first},
            {"last", b.last},
            {"first_instruction", index(b.first_instruction)},
            {"instructions", b.instructions},
            {"coverage", b.coverage},
            {"entry", b.entry},
            {"taken", b.taken},
            {"predicted", b.predicted},
            {"mispredicted", b.mispredicted},
            {"cycles", json(b.cycles)},
            {"ipc", maybe(b.ipc)},
            {"counters", b.counters},
            {"counters_saturated", b.counters_saturated}};
  }

  static Json json(const Instruction& i) {
    Json text{{"address", i.address},
              {"bytes", i.bytes},
              {"text", i.text},
              {"where", json(i.where)},
              {"inlined", index(i.inlined)},
              {"weights", json(i.weights)},
              {"coverage", i.coverage},
              {"heat", maybe(i.heat)}};
    if (i.join) text["join"] = {{"entries", i.join->entries}, {"percent", i.join->percent}};
    if (i.leave)
      text["leave"] = {{"taken", i.leave->taken},
                       {"predicted", i.leave->predicted},
                       {"mispredicted", i.leave->mispredicted},
                       {"percent", i.leave->percent},
                       {"predicted_percent", maybe(i.leave->predicted_percent)}};
    if (i.jump_target != 0) text["jump_target"] = i.jump_target;
    return text;
  }

  static Json json(const Jump& j) {
    return {{"from", j.from},
            {"to", j.to},
            {"taken", j.taken},
            {"predicted", j.predicted},
            {"mispredicted", j.mispredicted}};
  }

  static Json json(const InlinedFrame& frame) {
    return {{"function", frame.function}, {"call", json(frame.call)}};
  }

  static Json json(const AnnotatedFunction& f) {
    return {{"symbol", index(f.symbol)},
            {"instructions", list(f.instructions)},
            {"blocks", list(f.blocks)},
            {"jumps", list(f.jumps)},
            {"inline_stacks", list(f.inline_stacks, [](const auto& stack) { return list(stack); })},
            {"average_ipc", maybe(f.average_ipc)},
            {"ipc_coverage", f.ipc_coverage},
            {"problem", f.problem}};
  }

  static Json json(const PathStep& step) {
    return {{"first", json(step.first)},
            {"last", json(step.last)},
            {"executions", step.executions},
            {"taken", step.taken}};
  }

  static Json json(const HotPath& path) {
    return {{"steps", list(path.steps)},
            {"is_loop", path.is_loop},
            {"joins", index(path.joins)},
            {"executions", path.executions}};
  }

  static Json json(const StackNode& node) {
    return {{"parent", index(node.parent)},
            {"symbol", index(node.symbol)},
            {"self", json(node.self)},
            {"total", json(node.total)}};
  }

  static Json json(const Totals& t) {
    return {{"samples", t.samples},
            {"branch_stacks", t.branch_stacks},
            {"branch_entries", t.branch_entries},
            {"blocks", t.blocks},
            {"broken_blocks", t.broken_blocks}};
  }

  static Json json(const Event& event) {
    return {{"name", event.name}, {"samples", event.total.samples}, {"period", event.total.period}};
  }
};

const char* name_of(StackSource source) {
  constexpr const char* names[] = {"none", "callchain", "lbr_call_stack"};
  return names[static_cast<std::size_t>(source)];
}

}  // namespace

Json json_of(const Report& r, Json functions) {
  return {{"input", r.input},
          {"command_line", r.command_line},
          {"cpu", r.cpu},
          {"events", Convert::list(r.events)},
          {"totals", Convert::json(r.totals)},
          {"notes", r.notes},
          {"branch_counters", r.branch_counters},
          {"modules", Convert::list(r.modules)},
          {"symbols", Convert::list(r.symbols)},
          {"lines", Convert::list(r.lines)},
          {"branches", Convert::list(r.branches)},
          {"tasks", Convert::list(r.tasks)},
          {"cpus", Convert::list(r.cpus)},
          {"files", Convert::list(r.files, [](const SourceFile& f) { return Json(f.path); })},
          {"functions", std::move(functions)},
          {"paths", Convert::list(r.paths)},
          {"stack_source", name_of(r.stack_source)},
          {"stacks", Convert::list(r.stacks)}};
}

std::string to_json(const Report& r) {
  // Names come out of files: bytes that are no UTF-8 are replaced.
  return json_of(r, Convert::list(r.functions)).dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pmusim::annotate
