// SPDX-License-Identifier: MIT
#include "formats/lackey.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "formats/remarks.h"
#include "formats/step_import.h"
#include "formats/text.h"

namespace pmusim::formats {
namespace {

constexpr u64 max_access_bytes = 4096;

}  // namespace

LackeyReader::Line LackeyReader::parse(std::string_view text) {
  const std::string_view plain = trimmed(text);
  for (const std::string_view own : {"==", "--", "**", "SB "})
    if (plain.empty() || plain.starts_with(own)) return {Kind::remark};
  const std::string_view mark = text.substr(0, 3);
  const Kind kind = mark == "I  "   ? Kind::instruction
                    : mark == " L " ? Kind::load
                    : mark == " S " ? Kind::store
                    : mark == " M " ? Kind::modify
                                    : Kind::foreign;
  if (kind == Kind::foreign) return {kind};
  const std::string_view rest = trimmed(text.substr(mark.size()));
  const std::size_t comma = rest.find(',');
  if (comma == rest.npos) return {};
  const auto address = number<u64>(rest.substr(0, comma), 16),
             bytes = number<u64>(rest.substr(comma + 1), 10);
  if (!address || !bytes || *bytes == 0 || *bytes > max_access_bytes) return {};
  return {kind, *address, *bytes};
}

Result<std::optional<LackeyReader::Line>, Error> LackeyReader::next_line() {
  for (;;) {
    const auto text = lines_.next();
    if (!text.ok()) return Failure(text.error());
    if (!text->has_value()) return std::optional<Line>();
    const Line line = parse(**text);
    if (line.kind == Kind::remark) continue;
    if (lines_.is_cut()) {
      ++cut_lines_;
      continue;
    }
    if (line.kind == Kind::foreign || lines_.is_long()) {
      if (foreign_lines_++ == 0) first_foreign_offset_ = lines_.line_offset();
      continue;
    }
    if (line.kind == Kind::unknown)
      return Failure(lines_.damaged("expected 'I  ADDRESS,SIZE' or ' L', ' S' or ' M' with the same"));
    const bool impossible = !is_code_address(line.address) || line.bytes > max_instruction_bytes;
    if (line.kind == Kind::instruction && impossible)
      return Failure(lines_.damaged(
          fmt::format("no user's instruction has {} bytes at {:#x}", line.bytes, line.address)));
    return std::optional(line);
  }
}

Result<std::optional<LackeyReader::Line>, Error> LackeyReader::first_instruction() {
  for (;;) {
    const auto line = next_line();
    if (!line.ok() || !line->has_value() || (*line)->kind == Kind::instruction) return line;
    ++early_accesses_;
  }
}

Result<std::optional<Step>, Error> LackeyReader::next() {
  if (!ahead_) {
    const auto first = first_instruction();
    if (!first.ok()) return Failure(first.error());
    if (!first->has_value()) return std::optional<Step>();
    ahead_ = *first;
  }
  Step step{.ip = ahead_->address, .length = static_cast<u8>(ahead_->bytes)};
  for (ahead_.reset(); !ahead_;) {
    const auto line = next_line();
    if (!line.ok()) return Failure(line.error());
    if (!line->has_value()) break;
    if ((*line)->kind == Kind::instruction) {
      ahead_ = *line;
    } else if (step.accesses.size() < step.accesses.capacity()) {
      step.accesses.push_back({(*line)->address, static_cast<u16>((*line)->bytes),
                               (*line)->kind != Kind::store, (*line)->kind != Kind::load});
    } else {
      ++further_accesses_;
    }
  }
  return std::optional(step);
}

std::vector<std::string> LackeyReader::left_out() const {
  std::vector<std::string> sentences;
  add_count(sentences, foreign_lines_,
            fmt::format("lines that are not lackey's were left out, the first at offset {}",
                        first_foreign_offset_));
  add_count(sentences, early_accesses_, "accesses were left out: the file begins behind their instruction");
  add_count(sentences, further_accesses_, "accesses were left out: more than 8 of one instruction");
  add_count(sentences, cut_lines_, "line was left out: the file ends within it");
  if (lines_.ended_early()) sentences.emplace_back(packed_data_end_early);
  return sentences;
}

Result<Conversion, Error> import_lackey(const ImportOptions& options) {
  const auto reader = [](InputStream stream) { return std::make_unique<LackeyReader>(std::move(stream)); };
  return import_steps(
      options, reader,
      "kinds of branches are taken from where they went and from what they loaded and stored");
}

}  // namespace pmusim::formats
