// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_LACKEY_H
#define PMUSIM_FORMATS_LACKEY_H

#include "formats/input_stream.h"
#include "formats/step.h"

namespace pmusim::formats {

/// Reads what `valgrind --tool=lackey --trace-mem=yes` prints: a line "I  ADDRESS,SIZE" for an instruction,
/// then " L", " S" and " M" lines (load, store, both) for its accesses. Lines of valgrind itself, which begin
/// with == or --, are passed over.
class LackeyReader final : public StepReader {
 public:
  explicit LackeyReader(InputStream stream) : lines_(std::move(stream)) {}
  Result<std::optional<Step>, Error> next() override;

 private:
  enum class Kind : u8 { instruction, load, store, modify, remark, unknown };
  struct Line {
    Kind kind = Kind::unknown;
    u64 address = 0, bytes = 0;
  };
  static Line parse(std::string_view text);
  Result<std::optional<Line>, Error> next_line();

  LineReader lines_;
  std::optional<Line> ahead_;  // the next instruction
};

}  // namespace pmusim::formats

#endif
