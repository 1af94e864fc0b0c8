// SPDX-License-Identifier: MIT
#include "perfdata/tracing_data.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "perfdata/byte_reader.h"

namespace pmusim::perfdata {

namespace {

/// What stands behind `label` in the text of a format, up to the line's end.
std::string_view value_of(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find('\n'));
}

/// "name: sched_switch", "ID: 372" and the fields, as /sys/kernel/tracing/events/sched/sched_switch/format.
void add_format(TracepointNames& names, const std::string& system, std::string_view format) {
  const std::string_view name = value_of(format, "name: "), number = value_of(format, "\nID: ");
  u64 id = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), id);
  if (!name.empty() && parsed.ec == std::errc()) names.emplace(id, fmt::format("{}:{}", system, name));
}

void skip_block(ByteReader& in) { in.take_bytes(in.take<u64>()); }

/// What precedes the events: mark, version, byte order, sizes, and the formats of pages and of ftrace.
void skip_preamble(ByteReader& in) {
  constexpr std::string_view mark = "\x17\x08\x44tracing";
  if (in.take_text(mark.size()) != mark) return in.fail();
  in.take_until_nul();                 // version
  in.take_bytes(1 + 1 + sizeof(u32));  // byte order, size of long, of a page
  for (const std::string_view header : {"header_page", "header_event"}) {
    if (in.take_until_nul() != header) return in.fail();
    skip_block(in);
  }
  const u32 formats = in.take<u32>();
  for (u32 n = 0; n < formats && in.ok(); ++n) skip_block(in);
}

}  // namespace

TracepointNames tracepoint_names(std::span<const std::byte> tracing_data) {
  TracepointNames names;
  ByteReader in(tracing_data);
  skip_preamble(in);
  const u32 systems = in.take<u32>();
  for (u32 n = 0; n < systems && in.ok(); ++n) {
    const std::string system = in.take_until_nul();
    const u32 events = in.take<u32>();
    for (u32 event = 0; event < events && in.ok(); ++event)
      add_format(names, system, in.take_text(in.take<u64>()));
  }
  return names;
}

}  // namespace pmusim::perfdata
