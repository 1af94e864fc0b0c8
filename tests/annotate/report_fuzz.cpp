// SPDX-License-Identifier: MIT
#include <cstdint>

#include "pmusim/annotate/report.h"

namespace {

void export_in_every_format(const pmusim::annotate::Report& report) {
  using namespace pmusim::annotate;
  for (const std::string_view name : export_format_names())
    for (pmusim::u32 event = 0; event < report.events.size(); ++event)
      (void)export_profile(report, *find_export_format(name), event);
}

}  // namespace

/// Any bytes are a profile: it is refused or shown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim::annotate;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto report = analyze_bytes("fuzz", {bytes, bytes + size}, {.max_functions = 4});
  if (!report) return 0;
  for (const AnnotatedFunction& function : report->functions)
    (void)annotation_text(*report, function, Colours::ansi);
  (void)ranking_text(*report, {Ranking::symbols, Ranking::modules, Ranking::lines, Ranking::branches},
                     Colours::none);
  (void)to_json(*report);
  (void)to_html(*report);
  export_in_every_format(*report);
  return 0;
}
