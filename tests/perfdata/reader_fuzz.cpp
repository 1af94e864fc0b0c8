// SPDX-License-Identifier: MIT
#include <cstdint>

#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"

/// Any bytes are a file: reading them ends, in an error or in records.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim::perfdata;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  auto reader = Reader::from_memory("fuzz", {bytes, bytes + size});
  if (!reader) return 0;
  while (true) {
    const auto record = reader->next();
    if (!record || !*record) return 0;
    const auto* event = reader->event_of(**record);
    if (!event) continue;
    const bool any = parse_sample(**record, event->attr, {.counters = BranchCounters::one_word_each}).ok() ||
                     parse_mmap(**record).ok() || parse_comm(**record).ok() || parse_task(**record).ok();
    if (!any) (void)parse_sample_id(**record, event->attr);
  }
}
