// SPDX-License-Identifier: MIT
// Any bytes as a trace of another tool, whose format the first byte chooses: importing it ends.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "pmusim/formats/formats.h"
#include "pmusim/trace/trace.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const int descriptor = memfd_create("foreign", 0);
  static const std::string output =
      std::filesystem::temp_directory_path() / fmt::format("pmusim-fuzz-{}", getpid());
  static const std::string code = code_trace();
  FuzzInput input(data, size);
  const formats::Format format = input.pick(formats::all_formats()).format;
  const std::size_t bytes = size == 0 ? 0 : size - 1;
  must(ftruncate(descriptor, static_cast<off_t>(bytes)) == 0);
  must(pwrite(descriptor, data + (size - bytes), bytes, 0) == static_cast<ssize_t>(bytes));
  const auto imported = formats::import_trace({.format = format,
                                               .input = fmt::format("/proc/self/fd/{}", descriptor),
                                               .output = output,
                                               .code = format == formats::Format::pt ? code : std::string()});
  if (imported.ok()) std::filesystem::remove(output);
  return 0;
}
