// SPDX-License-Identifier: MIT
// A user's profiler in C++: makes a trace of a program that never was, and counts over it.
#include <pmusim/base/types.h>
#include <pmusim/cpu/model.h>
#include <pmusim/events/parser.h>
#include <pmusim/session/session.h>
#include <pmusim/session/stat.h>
#include <pmusim/trace/trace.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

using namespace pmusim;

/// Two instructions, NOP and JMP to the first, executed a thousand times.
void write_trace(const char* path) {
  constexpr std::array code{std::byte{0x90}, std::byte{0xEB}, std::byte{0xFD}};
  constexpr std::array<u8, 2> lengths{1, 2};
  auto writer = trace::Writer::create(path, {}).value();
  const trace::Block& block = writer.add_block(0x401000, code, lengths);
  for (int n = 0; n < 1000; ++n) static_cast<void>(writer.run({.block = &block, .next_ip = 0x401000}));
  static_cast<void>(writer.finish());
}

u64 instructions_in(const char* path) {
  const CpuModel model = find_cpu_model("icelake").value();
  auto session = Session::open(path, {.model = model}).value();
  return stat(session, {.events = events::parse_events("instructions:u", model).value()})
      .value()
      .events.at(0)
      .value();
}

}  // namespace

int main() {
  write_trace("consumer.pmutrace");
  const u64 instructions = instructions_in("consumer.pmutrace");
  std::printf("%llu instructions\n", static_cast<unsigned long long>(instructions));
  return instructions == 2000 ? 0 : 1;
}
