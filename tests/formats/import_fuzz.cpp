// SPDX-License-Identifier: MIT
// Any bytes as a trace of another tool: importing it ends, and what was imported can be read. The first byte
// chooses the format and what the bytes are packed with, which a fuzzer could not do: there are checksums.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "pmusim/formats/formats.h"
#include "pmusim/trace/trace.h"
#include "tests/formats/packed.h"
#include "tests/support/fuzz_input.h"

namespace {

/// The code that Intel PT is followed through: that of fuzz_seeds, in its process.
std::string code_trace() {
  using namespace pmusim;
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("pmusim-fuzz-code-{}", getpid());
  constexpr u8 code[] = {0x48, 0x8B, 0x04, 0xCE, 0xF3, 0xA4, 0x75, 0xF8, 0x0F, 0x05},
               lengths[] = {4, 2, 2, 2};
  auto writer = trace::Writer::create(path, {});
  must(writer->side_band(trace::ProcessStart{1, 1, "program", true}).ok());
  must(writer->side_band(trace::ThreadSwitch{1, 1}).ok());
  const trace::Block& block = writer->add_block(0x400100, std::as_bytes(std::span(code)), lengths);
  constexpr u32 rep_count = 1;
  must(writer->run({.block = &block, .next_ip = block.end(), .rep_counts = {&rep_count, 1}}).ok());
  must(writer->finish().ok());
  return path;
}

void must_be_readable(const std::string& path, pmusim::u64 instructions) {
  using pmusim::must;
  auto trace = pmusim::trace::Reader::open(path);
  must(trace.ok() && trace->length() == instructions);
  for (auto item = trace->next(); *item; item = trace->next()) must(item.ok());
}

/// How a file is imported, by its first byte. Below the number of formats: as it is, and all of it.
struct Choice {
  pmusim::formats::Format format;
  pmusim::test::Packing packing;
  pmusim::u64 max_instructions;

  explicit Choice(std::size_t byte) {
    const auto formats = pmusim::formats::all_formats();
    constexpr std::size_t packings = 4;
    format = formats[byte % formats.size()].format;
    packing = static_cast<pmusim::test::Packing>(byte / formats.size() % packings);
    max_instructions = byte / formats.size() / packings;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("foreign", 0);
  static const std::string output =
      std::filesystem::temp_directory_path() / fmt::format("pmusim-fuzz-{}", getpid());
  static const std::string code = code_trace();
  if (size == 0) return 0;
  const Choice choice(*data);
  const std::string file = test::packed({reinterpret_cast<const char*>(data) + 1, size - 1}, choice.packing);
  must(ftruncate(descriptor, 0) == 0);
  must(pwrite(descriptor, file.data(), file.size(), 0) == static_cast<ssize_t>(file.size()));
  const auto imported =
      formats::import_trace({.format = choice.format,
                             .input = fmt::format("/proc/self/fd/{}", descriptor),
                             .output = output,
                             .max_instructions = choice.max_instructions,
                             .code = choice.format == formats::Format::pt ? code : std::string()});
  if (!imported.ok()) return 0;
  must_be_readable(output, imported->instructions);
  std::filesystem::remove(output);
  return 0;
}
