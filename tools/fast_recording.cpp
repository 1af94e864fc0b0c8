#include "fast_recording.h"

#include <fmt/format.h>

namespace pmusim::tools {

std::string remarks(const qemu::FastRecordSummary& summary) {
  std::string text =
      "recorded under qemu: no registers, the CPU that qemu shows, threads in the order of their system "
      "calls\n";
  if (summary.unrecorded_programs != 0)
    text += fmt::format("{} ran unrecorded: not 64-bit x86\n",
                        summary.unrecorded_programs == 1
                            ? "one program"
                            : fmt::format("{} programs", summary.unrecorded_programs));
  if (summary.unknown_addresses != 0)
    text += fmt::format("{} accesses had no address of their own\n",
                        fmt::group_digits(summary.unknown_addresses));
  return text;
}

}  // namespace pmusim::tools
