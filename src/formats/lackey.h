// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_LACKEY_H
#define PMUSIM_FORMATS_LACKEY_H

#include "formats/input_stream.h"
#include "formats/step.h"
#include "pmusim/formats/formats.h"

namespace pmusim::formats {

/// Reads what `valgrind --tool=lackey --trace-mem=yes` prints: a line "I  ADDRESS,SIZE" for an instruction,
/// then " L", " S" and " M" lines (load, store, both) for its accesses. Lines of valgrind itself, which begin
/// with ==, -- or **, and those of --trace-superblocks are passed over. Others are the program's own output
/// on the same terminal, or what is left of a line where the file was cut: they are counted.
class LackeyReader final : public StepReader {
 public:
  explicit LackeyReader(InputStream stream) : lines_(std::move(stream)) {}
  Result<std::optional<Step>, Error> next() override;
  std::vector<std::string> left_out() const override;

 private:
  enum class Kind : u8 { instruction, load, store, modify, remark, foreign, unknown };
  struct Line {
    Kind kind = Kind::unknown;
    u64 address = 0, bytes = 0;
  };
  static Line parse(std::string_view text);
  Result<std::optional<Line>, Error> next_line();
  Result<std::optional<Line>, Error> first_instruction();

  LineReader lines_;
  std::optional<Line> ahead_;  // the next instruction
  u64 foreign_lines_ = 0, first_foreign_offset_ = 0, early_accesses_ = 0, further_accesses_ = 0,
      cut_lines_ = 0;
};

Result<Conversion, Error> import_lackey(const ImportOptions& options);

}  // namespace pmusim::formats

#endif
