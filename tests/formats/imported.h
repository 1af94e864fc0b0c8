// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_FORMATS_IMPORTED_H
#define PMUSIM_TESTS_FORMATS_IMPORTED_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/champsim.h"
#include "pmusim/formats/formats.h"
#include "tests/trace/sample_trace.h"

namespace pmusim::formats {

/// A file of these bytes, imported.
class Imported {
 public:
  Imported(Format format, const std::string& content, u64 max_instructions = 0,
           const std::string& code = "") {
    trace::write_content(directory_.file("in"), {content.begin(), content.end()});
    const auto conversion =
        import_trace({format, directory_.file("in"), directory_.file("t"), max_instructions, code});
    if (!conversion.ok()) {
      error = conversion.error().message;
      return;
    }
    instructions = conversion->instructions;
    remarks = conversion->remarks;
    const auto items = trace::read_all(directory_.file("t"));
    for (const trace::OwnedItem& item : items.value()) (item.side_band ? records : runs).push_back(item);
    contents = trace::Reader::open(directory_.file("t"))->contents();
  }
  std::vector<x86::Instruction> instructions_of(const trace::OwnedItem& run) const {
    std::vector<x86::Instruction> result;
    for (std::size_t at = 0; at < run.code.size(); at += result.back().length)
      result.push_back(x86::decode(std::span(run.code).subspan(at), run.start + at));
    return result;
  }
  std::size_t files() const { return directory_.entries(); }

  u64 instructions = 0;
  std::vector<trace::OwnedItem> runs, records;
  std::vector<std::string> remarks;
  trace::Contents contents;
  std::string error;

 private:
  trace::TemporaryDirectory directory_;
};

inline std::string text_of(const std::vector<ChampSimRecord>& records) {
  return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(ChampSimRecord)};
}

inline ChampSimRecord record(u64 ip, std::array<u8, 2> written = {}, std::array<u8, 4> read = {},
                             u8 taken = 0) {
  ChampSimRecord result{};
  result.ip = ip;
  result.written = written;
  result.read = read;
  result.taken = taken;
  return result;
}
inline ChampSimRecord load(u64 ip, u64 address) {
  ChampSimRecord result = record(ip);
  result.loads[0] = address;
  return result;
}

/// A call, in it a load, the return; a branch that is taken once.
inline std::vector<ChampSimRecord> small_program() {
  return {record(0x401000, {6, 26}, {26, 6}, 1), load(0x402000, 0x7010),
          record(0x402004, {6, 26}, {6}, 1),     record(0x401005),
          record(0x401008, {26}, {26, 25}, 1),   record(0x401005),
          record(0x401008, {26}, {26, 25}, 0),   record(0x40100A)};
}

/// `small_program` as a native trace.
class SmallTrace {
 public:
  SmallTrace() {
    const std::string records = text_of(small_program());
    trace::write_content(directory_.file("in"), {records.begin(), records.end()});
    EXPECT_TRUE(import_trace({Format::champsim, directory_.file("in"), path()}).ok());
  }
  std::string path() const { return directory_.file("t"); }
  /// The content of a file of that format.
  std::string exported(Format format) const {
    const auto done = export_trace({format, path(), directory_.file("out")});
    EXPECT_TRUE(done.ok()) << done.error().message;
    const auto content = trace::file_content(directory_.file("out"));
    return {content.begin(), content.end()};
  }

 private:
  trace::TemporaryDirectory directory_;
};

}  // namespace pmusim::formats

#endif
