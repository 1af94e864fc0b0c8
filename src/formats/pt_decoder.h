// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_PT_DECODER_H
#define PMUSIM_SRC_FORMATS_PT_DECODER_H

#include <memory>
#include <span>

#include "pmusim/base/types.h"

namespace pmusim::formats {

/// Where the code of processes is read.
class CodeSource {
 public:
  CodeSource() = default;
  CodeSource(const CodeSource&) = delete;
  CodeSource& operator=(const CodeSource&) = delete;
  virtual ~CodeSource() = default;
  /// Fills the front of `out` and gives the number of bytes: fewer where the code ends or is not known.
  virtual std::size_t read(u32 pid, u64 ip, std::span<std::byte> out) = 0;
};

/// What a decoder must know of the machine beside the packets.
struct PtMachine {
  u16 family = 0;  ///< 0: not known, no errata
  u8 model = 0, stepping = 0;
  u8 mtc_frequency = 0;
  u32 tsc_ctc_numerator = 0, tsc_ctc_denominator = 0;
  u8 nominal_ratio = 0;  ///< core:bus ratio at which a core cycle is a tick of the TSC; 0: not known
  bool clocked = false;  ///< packets between time stamps say how time goes on (CYC, MTC)
};

/// When something executed.
struct PtTime {
  u64 tsc = 0;             ///< 0: not known
  u32 core_bus_ratio = 0;  ///< 0: not known
};

/// What comes next in a stream.
struct PtItem {
  enum class Kind : u8 {
    begin,        ///< what follows executed from `time` on
    instruction,  ///< `code` at `ip`, which was done at `time` (of clocked streams)
    interrupted,  ///< before `ip`
    paused,       ///< behind the last instruction
    lost,         ///< what follows may be far from what was before
    end,
  };
  Kind kind = Kind::end;
  u64 ip = 0;  ///< of a beginning: 0 where a stream is gone into
  PtTime time;
  std::span<const std::byte> code;  ///< valid until the next call
};

/// Follows the packets of one stream through the code (libipt behind it).
///
/// A stream has an end: where code leads on without packets for longer than programs do, what follows counts
/// as lost.
class PtDecoder {
 public:
  /// Packets and code must outlive the decoder. Errors: out of memory.
  static Result<PtDecoder, Error> create(std::span<const std::byte> packets, const PtMachine& machine,
                                         CodeSource& code);
  PtDecoder(PtDecoder&&) noexcept;
  PtDecoder& operator=(PtDecoder&&) noexcept;
  ~PtDecoder();

  /// Whose code it is from here on.
  void set_process(u32 pid);
  PtItem next();

 private:
  struct Impl;
  explicit PtDecoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pmusim::formats

#endif
