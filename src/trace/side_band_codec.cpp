// SPDX-License-Identifier: MIT
#include "trace/side_band_codec.h"

#include "trace/format.h"

namespace pmusim::trace {
namespace {

// a side-band record is its index in the variant (one byte), then its members in order.
struct Encoder {
  ByteWriter& out;
  void operator()(const ProcessStart& h) {
    ids(h.pid, h.tid);
    out.text(std::string_view(h.command).substr(0, max_command_bytes));
    out.byte(h.exec ? 1 : 0);
  }
  void operator()(const ThreadStart& h) {
    ids(h.pid, h.tid);
    ids(h.parent_pid, h.parent_tid);
  }
  void operator()(const ThreadExit& h) {
    ids(h.pid, h.tid);
    out.difference(static_cast<u64>(i64{h.status}));
  }
  void operator()(const ThreadSwitch& h) { ids(h.pid, h.tid); }
  void operator()(const Map& h) {
    out.number(h.pid);
    const Mapping& m = h.mapping;
    for (u64 member : {m.start, m.bytes, m.file_offset, u64{m.protection}, u64{m.flags}}) out.number(member);
    out.text(std::string_view(m.path).substr(0, max_path_bytes));
    const auto id = std::span(m.build_id).first(std::min(m.build_id.size(), max_build_id_bytes));
    out.number(id.size());
    out.bytes(id);
  }
  void operator()(const Unmap& h) {
    for (u64 member : {u64{h.pid}, h.start, h.bytes}) out.number(member);
  }
  void operator()(const Syscall& h) {
    out.number(h.number);
    out.difference(static_cast<u64>(h.result));
  }
  void operator()(const SignalDelivery& h) {
    out.number(h.signal);
    out.number(h.handler);
  }
  void operator()(const Interrupt& h) {
    for (u64 member : {u64{h.vector}, h.from, h.handler}) out.number(member);
    out.byte(h.ring == Cpl::kernel ? 0 : 1);
  }
  void operator()(const ThreadName& h) {
    ids(h.pid, h.tid);
    out.text(std::string_view(h.name).substr(0, max_command_bytes));
  }
  void ids(u32 pid, u32 tid) {
    out.number(pid);
    out.number(tid);
  }
};

u32 number32(ByteReader& in) { return static_cast<u32>(in.number()); }

// Braced initialisers read their members from left to right.
Map decode_map(ByteReader& in) {
  Map map{number32(in), {in.number(), in.number(), in.number(), number32(in), number32(in), in.text(), {}}};
  const auto id = in.bytes(in.number());
  map.mapping.build_id.assign(id.begin(), id.end());
  return map;
}

std::optional<SideBandRecord> decode_members(u8 index, ByteReader& in) {
  switch (index) {
    case 0:
      return ProcessStart{number32(in), number32(in), in.text(), in.byte() != 0};
    case 1:
      return ThreadStart{number32(in), number32(in), number32(in), number32(in)};
    case 2:
      return ThreadExit{number32(in), number32(in), static_cast<i32>(in.difference())};
    case 3:
      return ThreadSwitch{number32(in), number32(in)};
    case 4:
      return decode_map(in);
    case 5:
      return Unmap{number32(in), in.number(), in.number()};
    case 6:
      return Syscall{in.number(), static_cast<i64>(in.difference())};
    case 7:
      return SignalDelivery{number32(in), in.number()};
    case 8:
      return Interrupt{number32(in), in.number(), in.number(), in.byte() == 0 ? Cpl::kernel : Cpl::user};
    case 9:
      return ThreadName{number32(in), number32(in), in.text()};
    default:
      return std::nullopt;
  }
}

}  // namespace

void encode(const SideBandRecord& record, ByteWriter& out) {
  out.byte(static_cast<u8>(record.index()));
  std::visit(Encoder{out}, record);
}

std::optional<SideBandRecord> decode_side_band(ByteReader& in) {
  auto record = decode_members(in.byte(), in);
  return in.ok() ? record : std::nullopt;
}

std::string_view problem_of(const SideBandRecord& record) {
  if (const auto* start = std::get_if<ProcessStart>(&record)) {
    if (start->command.size() > max_command_bytes) return "a command's name is longer than 15 bytes";
  } else if (const auto* named = std::get_if<ThreadName>(&record)) {
    if (named->name.size() > max_command_bytes) return "a thread's name is longer than 15 bytes";
  } else if (const auto* map = std::get_if<Map>(&record)) {
    if (map->mapping.path.size() > max_path_bytes) return "a mapping's path is longer than 4095 bytes";
    if (map->mapping.build_id.size() > max_build_id_bytes) return "a build id is longer than 64 bytes";
  }
  return {};
}

}  // namespace pmusim::trace
