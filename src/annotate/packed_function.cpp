// SPDX-License-Identifier: MIT
#include <algorithm>

#include "json.h"

namespace pmusim::annotate {

namespace {

/// Arrows beyond these cannot be distinguished.
constexpr std::size_t most_jumps = 64;

bool is_zero(const Weights& weights) {
  return std::ranges::all_of(weights, [](const Weight& w) { return w == Weight{}; });
}

/// Columns over the instructions of a function: [number, value...] where something begins to be different, or
/// is.
class Columns {
 public:
  explicit Columns(const AnnotatedFunction& function) {
    for (const Instruction& i : function.instructions) add(i);
  }

  Json json() && {
    return {{"bytes", std::move(bytes_)},       {"texts", std::move(texts_)},
            {"addresses", std::move(address_)}, {"where", std::move(where_)},
            {"inlined", std::move(inlined_)},   {"coverage", std::move(coverage_)},
            {"weights", std::move(weights_)},   {"joins", std::move(joins_)},
            {"leaves", std::move(leaves_)}};
  }

 private:
  void add(const Instruction& i) {
    bytes_.push_back(i.bytes);
    texts_ += (number_ == 0 ? "" : "\n") + i.text;
    if (i.address != next_address_) put(address_, {i.address});
    next_address_ = i.address + i.bytes;
    if (number_ == 0 || i.where != last_.where) {
      const bool known = i.where.line != 0;
      put(where_, {known ? Json(i.where.file) : Json(nullptr), i.where.line});
    }
    if (number_ == 0 || i.inlined != last_.inlined) put(inlined_, {index(i.inlined)});
    if (number_ == 0 || i.coverage != last_.coverage || i.heat != last_.heat)
      put(coverage_, {i.coverage, maybe(i.heat)});
    add_figures(i);
    last_ = i;
    ++number_;
  }

  void add_figures(const Instruction& i) {
    if (!is_zero(i.weights)) {
      put(weights_, {});
      for (const Weight& w : i.weights) {
        weights_.push_back(w.samples);
        weights_.push_back(w.period);
      }
    }
    if (i.join) put(joins_, {i.join->entries, i.join->percent});
    if (i.leave)
      put(leaves_, {i.leave->taken, i.leave->predicted, i.leave->mispredicted, i.leave->percent,
                    maybe(i.leave->predicted_percent)});
  }

  void put(Json& column, std::initializer_list<Json> values) {
    column.push_back(number_);
    for (const Json& value : values) column.push_back(value);
  }

  u32 number_ = 0;
  u64 next_address_ = 0;
  Instruction last_;
  std::string texts_;
  Json bytes_ = Json::array(), address_ = Json::array(), where_ = Json::array(), inlined_ = Json::array(),
       coverage_ = Json::array(), weights_ = Json::array(), joins_ = Json::array(), leaves_ = Json::array();
};

/// Blocks with cycles: [first instruction, instructions, executions, sum, least and most cycles, IPC].
Json packed_blocks(const AnnotatedFunction& function) {
  Json blocks = Json::array();
  for (const Block& b : function.blocks) {
    if (b.cycles.executions == 0 || b.first_instruction == nothing) continue;
    for (const u64 value : {u64{b.first_instruction}, u64{b.instructions}, b.cycles.executions, b.cycles.sum,
                            b.cycles.min, b.cycles.max})
      blocks.push_back(value);
    blocks.push_back(maybe(b.ipc));
  }
  return blocks;
}

Json packed_jumps(const AnnotatedFunction& function) {
  Json jumps = Json::array();
  for (std::size_t n = 0; n < std::min(function.jumps.size(), most_jumps); ++n) {
    const Jump& j = function.jumps[n];
    for (const u64 value : {u64{j.from}, u64{j.to}, j.taken, j.predicted, j.mispredicted})
      jumps.push_back(value);
  }
  return jumps;
}

}  // namespace

Json packed(const AnnotatedFunction& function) {
  Json json = Columns(function).json();
  json["symbol"] = function.symbol;
  json["problem"] = function.problem;
  json["average_ipc"] = maybe(function.average_ipc);
  json["ipc_coverage"] = function.ipc_coverage;
  json["blocks"] = packed_blocks(function);
  json["jumps"] = packed_jumps(function);
  Json stacks = Json::array();
  for (const auto& stack : function.inline_stacks) {
    stacks.push_back(Json::array());
    for (const InlinedFrame& frame : stack) stacks.back().push_back(frame.function);
  }
  json["inline_stacks"] = std::move(stacks);
  return json;
}

}  // namespace pmusim::annotate
