// SPDX-License-Identifier: MIT
// Any well-formed trace in another format, which the first byte chooses, and what reads that: it ends, and
// what comes back can be read.
#include <string>

#include "pmusim/formats/formats.h"
#include "tests/support/fuzzed_trace.h"

namespace pmusim {
namespace {

u64 instructions_in(const std::string& path) {
  auto trace = trace::Reader::open(path);
  must(trace.ok());
  for (auto item = trace->next(); *item; item = trace->next()) must(item.ok());
  return trace->instruction_count();
}

void there_and_back(formats::Format format, const std::string& trace) {
  static const std::string foreign = fuzz_directory() / "foreign", back = fuzz_directory() / "back";
  if (!formats::export_trace({.format = format, .input = trace, .output = foreign}).ok()) return;
  const auto imported =
      formats::import_trace({.format = format,
                             .input = foreign,
                             .output = back,
                             .code = format == formats::Format::pt ? trace : std::string()});
  if (imported.ok()) must(instructions_in(back) == imported->instructions);
}

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const std::string trace = fuzz_directory() / "trace";
  FuzzInput input(data, size);
  const formats::Format format = input.pick(formats::all_formats()).format;
  if (TraceMaker(input, trace).make()) there_and_back(format, trace);
  return 0;
}
