// SPDX-License-Identifier: MIT
#include "formats/pt_packets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pmusim/base/types.h"

namespace pmusim::formats {
namespace {

// Opcodes that stand in one or two bytes, lowest first.
constexpr u64 psb_pair = 0x8202, psbend = 0x2302, cbr = 0x0302, tsc = 0x19, mode = 0x99;
constexpr u64 mode_exec_cs_l = 0x01;  // leaf 0, CS.L
constexpr unsigned psb_pairs = 8, tsc_bytes = 7;
// A short TNT has a zero bit, up to six branches and a stop bit. The long one holds 47 in eight bytes, which
// saves nothing.
constexpr u8 full_tnt = bit(6);

/// How an address is shortened (SDM, "IP Compression"): IPBytes, bits 7:5 of the packet.
struct AddressForm {
  u8 code, bytes;
  /// Bits that a decoder makes of the bytes and the last address.
  u64 (*decoded)(u64 ip, u64 last_ip);
};
template <unsigned bits>
u64 updated(u64 ip, u64 last_ip) {
  return (last_ip & ~low_bits(bits)) | (ip & low_bits(bits));
}
u64 sign_extended(u64 ip, u64) { return static_cast<u64>(static_cast<i64>(ip << 16) >> 16); }
u64 full(u64 ip, u64) { return ip; }
constexpr std::array<AddressForm, 4> address_forms{
    {{1, 2, updated<16>}, {2, 4, updated<32>}, {3, 6, sign_extended}, {6, 8, full}}};

}  // namespace

void PtPackets::put(u64 value, unsigned bytes) {
  for (unsigned n = 0; n < bytes; ++n) bytes_.push_back(static_cast<std::byte>(value >> 8 * n));
}

void PtPackets::flush_branches() {
  if (branches_ == 1) return;
  put(u64{branches_} << 1, 1);
  branches_ = 1;
}

void PtPackets::psb() {
  flush_branches();
  for (unsigned n = 0; n < psb_pairs; ++n) put(psb_pair, 2);
  last_ip_ = 0;
}

void PtPackets::end_psb() { put(psbend, 2); }

void PtPackets::time(u64 stamp) {
  flush_branches();
  put(tsc, 1);
  put(stamp, tsc_bytes);
}

void PtPackets::core_bus_ratio(u8 ratio) {
  flush_branches();
  put(cbr, 2);
  put(ratio, 2);
}

// The first byte has five bits of the number above its opcode (11) and a bit that says whether more follow;
// those have seven above such a bit.
void PtPackets::cycles(u64 passed) {
  constexpr u64 opcode = 3, more = 4, more_again = 1;
  flush_branches();
  u64 rest = passed >> 5;
  put(opcode | (rest != 0 ? more : 0) | (passed & low_bits(5)) << 3, 1);
  while (rest != 0) {
    const u64 bits = rest & low_bits(7);
    rest >>= 7;
    put((rest != 0 ? more_again : 0) | bits << 1, 1);
  }
}

void PtPackets::long_mode() {
  flush_branches();
  put(mode | mode_exec_cs_l << 8, 2);
}

void PtPackets::branch(bool taken) {
  branches_ = static_cast<u8>(branches_ << 1 | (taken ? 1 : 0));
  if (branches_ >= full_tnt) flush_branches();
}

void PtPackets::address(PtAddressPacket packet, u64 ip) {
  flush_branches();
  const AddressForm& form = *std::ranges::find_if(
      address_forms, [&](const AddressForm& f) { return f.decoded(ip, last_ip_) == ip; });
  put(u64{form.code} << 5 | static_cast<u8>(packet), 1);
  put(ip, form.bytes);
  last_ip_ = ip;
}

void PtPackets::no_address(PtAddressPacket packet) {
  flush_branches();
  put(static_cast<u8>(packet), 1);
}

std::vector<std::byte> PtPackets::take_words() {
  const auto words_end = bytes_.begin() + static_cast<std::ptrdiff_t>(bytes_.size() / 8 * 8);
  std::vector<std::byte> rest(words_end, bytes_.end());
  bytes_.erase(words_end, bytes_.end());
  return std::exchange(bytes_, std::move(rest));
}

void PtPackets::pad() {
  flush_branches();
  while (bytes_.size() % 8 != 0) put(0, 1);
}

}  // namespace pmusim::formats
