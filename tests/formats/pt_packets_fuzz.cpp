// SPDX-License-Identifier: MIT
// Any bytes as the packets of a thread, over code with every kind of branch: decoding ends.
#include <array>

#include "formats/pt_decoder.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace pmusim;

/// At 0x401000, over and over: nop, jz, call, ret, jmp to itself, indirect jump, system call, REP MOVS, a
/// jump back.
constexpr std::array<u8, 20> code{0x90, 0x74, 0x02, 0xE8, 0x01, 0x00, 0x00, 0x00, 0xC3, 0xEB,
                                  0xFE, 0xFF, 0xE0, 0x0F, 0x05, 0xF3, 0xA4, 0xEB, 0xED, 0x90};
constexpr u64 start = 0x401000;

class FixedCode final : public formats::CodeSource {
 public:
  std::size_t read(u32, u64 ip, std::span<std::byte> out) override {
    if (ip < start || ip >= start + 4096) return 0;
    for (std::size_t n = 0; n < out.size(); ++n)
      out[n] = std::byte{code[static_cast<std::size_t>(ip - start + n) % code.size()]};
    return out.size();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FixedCode fixed;
  const auto packets = std::as_bytes(std::span(data, size));
  auto decoder = formats::PtDecoder::create(packets,
                                            {.family = 6,
                                             .model = 143,
                                             .mtc_frequency = 3,
                                             .tsc_ctc_numerator = 84,
                                             .tsc_ctc_denominator = 2,
                                             .nominal_ratio = 20,
                                             .clocked = true},
                                            fixed);
  must(decoder.ok());
  // No packet is followed by more than the decoder allows; PSBs take 16 bytes.
  constexpr u64 most_per_byte = u64{1} << 16;
  u64 items = 0;
  while (decoder->next().kind != formats::PtItem::Kind::end) must(++items <= most_per_byte * (size + 1));
  return 0;
}
