// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_PACKETS_H
#define PMUSIM_SRC_FORMATS_PT_PACKETS_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::formats {

/// Packets with an address; the value is the opcode in bits 4:0 of their first byte.
enum class PtAddressPacket : u8 {
  pgd = 0x01,  ///< TIP.PGD: from here on there are no packets
  tip = 0x0D,  ///< TIP: where an indirect branch went
  pge = 0x11,  ///< TIP.PGE: packets again, from here
  fup = 0x1D,  ///< FUP: where something happened that is no branch
};

/// Writes packets of Intel Processor Trace (SDM vol. 3, "Intel Processor Trace", "Trace Packets and Data
/// Types").
///
///     PtPackets out;
///     out.psb();
///     out.end_psb();
///     out.address(PtAddressPacket::pge, 0x401000);
///     out.branch(true);                              // held back until the byte is full or something
///     follows out.address(PtAddressPacket::tip, 0x401230);
class PtPackets {
 public:
  /// PSB: a decoder can begin here. The packets that say how things stand follow it, up to PSBEND.
  void psb();
  void end_psb();
  /// TSC: the time stamp counter, its low 56 bits.
  void time(u64 tsc);
  /// CBR: core cycles per cycle of the bus.
  void core_bus_ratio(u8 ratio);
  /// CYC: core cycles since the last one, at the packet that follows.
  void cycles(u64 passed);
  /// MODE.Exec: 64-bit code.
  void long_mode();
  /// TNT: whether a conditional branch was taken.
  void branch(bool taken);
  /// The address is shortened to what differs from the last one.
  void address(PtAddressPacket packet, u64 ip);
  /// The same without an address.
  void no_address(PtAddressPacket packet);
  /// PAD, until the size is a multiple of 8.
  void pad();

  const std::vector<std::byte>& bytes() const { return bytes_; }
  /// Takes the whole 8-byte words of them.
  std::vector<std::byte> take_words();

 private:
  void put(u64 value, unsigned bytes);
  void flush_branches();

  std::vector<std::byte> bytes_;
  u64 last_ip_ = 0;
  u8 branches_ = 1;  // a leading one, then what became of branches, the oldest highest
};

}  // namespace pmusim::formats

#endif
