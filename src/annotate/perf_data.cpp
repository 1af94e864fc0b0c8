// SPDX-License-Identifier: MIT
#include "perf_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "mapped_name.h"
#include "perfdata/sample_parser.h"
#include "sample_owners.h"

namespace pmusim::annotate {

using perf::RecordType;
using perfdata::RecordView;

symbols::FileIdentity ProcessHistory::identity_of(const perfdata::MmapRecordView& mapping) const {
  if (is_anonymous(mapping.name)) return {jit_map(options_.jit_directory, mapping.pid), {}};
  return {mapping.name, mapping.build_id};
}

Result<Done, Error> ProcessHistory::take_mapping(const RecordView& record, u64 time) {
  constexpr u32 executable = 4;
  const auto mapping = perfdata::parse_mmap(record);
  if (!mapping) return Failure(mapping.error());
  const bool is_user = (record.header.misc & perf::misc::CPUMODE_MASK) == perf::misc::USER;
  const bool is_code =
      (record.header.misc & perf::misc::MMAP_DATA) == 0 && (mapping->protection & executable) != 0;
  if (!is_user || !is_code || mapping->length > ~mapping->address) return Done{};
  auto identity = identity_of(*mapping);
  // Addresses in a JIT compiler's map are those of the process.
  const u64 offset = is_anonymous(mapping->name) ? mapping->address : mapping->page_offset;
  const auto [file, is_new] = file_index_.try_emplace(identity, static_cast<u32>(files_.size()));
  if (is_new) files_.push_back(std::move(identity));
  moments_.push_back({.kind = Moment::Kind::map,
                      .time = time,
                      .pid = mapping->pid,
                      .start = mapping->address,
                      .end = mapping->address + mapping->length,
                      .file_offset = offset,
                      .file = file->second});
  return Done{};
}

Result<Done, Error> ProcessHistory::take(const RecordView& record, u64 time) {
  switch (static_cast<RecordType>(record.header.type)) {
    case RecordType::mmap:
    case RecordType::mmap2:
      return take_mapping(record, time);
    case RecordType::comm: {
      const auto comm = perfdata::parse_comm(record);
      if (!comm) return Failure(comm.error());
      if ((record.header.misc & perf::misc::COMM_EXEC) != 0)
        moments_.push_back({.kind = Moment::Kind::exec, .time = time, .pid = comm->pid});
      return Done{};
    }
    case RecordType::fork: {
      const auto task = perfdata::parse_task(record);
      if (!task) return Failure(task.error());
      moments_.push_back(
          {.kind = Moment::Kind::fork, .time = time, .pid = task->pid, .parent = task->parent_pid});
      return Done{};
    }
    default:
      return Done{};
  }
}

void ProcessHistory::tell(symbols::AddressSpaces& spaces, const std::vector<perfdata::BuildId>& build_ids) {
  std::map<std::string, std::vector<std::byte>> id_of;
  for (const perfdata::BuildId& known : build_ids)
    if (known.space == perfdata::Space::user) id_of.emplace(known.path, known.id);
  std::vector<u32> number;
  for (symbols::FileIdentity& file : files_) {
    const auto known = id_of.find(file.path);
    if (file.build_id.empty() && known != id_of.end()) file.build_id = known->second;
    number.push_back(spaces.add_file(file));
  }
  std::ranges::stable_sort(moments_, {}, &Moment::time);
  for (const Moment& m : moments_) {
    if (m.kind == Moment::Kind::exec) spaces.exec(m.pid, m.time);
    if (m.kind == Moment::Kind::fork) spaces.fork(m.parent, m.pid, m.time);
    if (m.kind == Moment::Kind::map)
      spaces.map(m.pid, m.time, {m.start, m.end, m.file_offset, number[m.file]});
  }
}

namespace {

struct BranchKind {
  u64 bit;
  std::string_view name;
};
/// What a filter of branches selects, if not any.
constexpr BranchKind branch_kinds[] = {{perf::branch::ANY_CALL, "calls"},
                                       {perf::branch::ANY_RETURN, "returns"},
                                       {perf::branch::IND_CALL, "indirect calls"},
                                       {perf::branch::CALL, "direct calls"},
                                       {perf::branch::IND_JUMP, "indirect jumps"},
                                       {perf::branch::COND, "conditional branches"},
                                       {perf::branch::ABORT_TX, "aborts of transactions"}};
/// These narrow even "any".
constexpr BranchKind restrictions[] = {{perf::branch::IN_TX, "within transactions"},
                                       {perf::branch::NO_TX, "outside of transactions"}};

void add_names(std::string& list, std::span<const BranchKind> kinds, u64 filter) {
  for (const BranchKind& kind : kinds)
    if ((filter & kind.bit) != 0) list += fmt::format("{}{}", list.empty() ? "" : ", ", kind.name);
}

/// Code of users goes on where a system call or an interrupt left it. Kernels begin elsewhere each time.
bool is_of_kernel_alone(const perf::Attr& attr) {
  const u64 levels = attr.branch_sample_type & perf::branch::PLM_ALL;
  return levels == 0 ? attr.exclude_user != 0 : (levels & perf::branch::USER) == 0;
}

/// What the branch stacks of an event hold, if not every branch: "calls, returns". A filter that names no
/// kind of branch is that of a stack that was made of a trace (perf inject), where none is missing.
std::string what_is_left(const perf::Attr& attr) {
  std::string left;
  if ((attr.branch_sample_type & perf::branch::ANY) == 0)
    add_names(left, branch_kinds, attr.branch_sample_type);
  add_names(left, restrictions, attr.branch_sample_type);
  if (is_of_kernel_alone(attr)) left += left.empty() ? "the kernel's alone" : ", the kernel's alone";
  return left;
}

BranchUse use_of(const perf::Attr& attr) {
  if ((attr.sample_type & perf::sample::BRANCH_STACK) == 0) return BranchUse::none;
  if ((attr.branch_sample_type & perf::branch::CALL_STACK) != 0) return BranchUse::call_stack;
  return what_is_left(attr).empty() ? BranchUse::every_branch : BranchUse::chosen_branches;
}

bool is_logged(const perfdata::EventDescription& event) {
  return (event.attr.branch_sample_type & perf::branch::COUNTERS) != 0;
}

unsigned counter_bits(const perfdata::Metadata& metadata) {
  unsigned bits = 2;
  for (const auto& [name, value] : metadata.cpu_pmu_caps)
    if (name == "branch_counter_width") std::from_chars(value.data(), value.data() + value.size(), bits);
  return std::clamp(bits, 1u, 16u);
}

/// Samples of a group have counters if any event of the group is logged.
unsigned logged_in_group(const perfdata::Reader& reader, u32 event) {
  const auto& events = reader.events();
  u32 first = event, end = event + 1;
  for (const perfdata::Group& group : reader.groups())
    if (group.leader <= event && event - group.leader < group.members) {
      first = group.leader;
      end = static_cast<u32>(std::min<u64>(u64{first} + group.members, events.size()));
    }
  const auto logged = std::count_if(events.begin() + first, events.begin() + end, is_logged);
  return static_cast<unsigned>(std::min<std::ptrdiff_t>(logged, 4));
}

}  // namespace

u64 time_of(const RecordView& record, const perfdata::EventDescription* event, u64 order) {
  if (event == nullptr || (event->attr.sample_type & perf::sample::TIME) == 0) return order;
  const u64 time = perfdata::parse_sample_id(record, event->attr).time;
  return time == perfdata::absent ? 0 : time;
}

Result<Done, Error> learn_processes(symbols::AddressSpaces& spaces, perfdata::Reader& reader,
                                    const Options& options, CommandHistory* commands) {
  ProcessHistory history(options);
  auto done = for_each_record(reader, [&](const RecordView& record, u64 order) {
    const u64 time = time_of(record, reader.event_of(record), order);
    auto taken = commands != nullptr ? commands->take(record, time) : Result<Done, Error>(Done{});
    return taken ? history.take(record, time) : taken;
  });
  if (!done) return done;
  history.tell(spaces, reader.build_ids());
  if (commands != nullptr) commands->put_in_order();
  return done;
}

Error named(Error error, const std::string& file) {
  if (!error.message.starts_with(file + ':')) error.message = fmt::format("{}: {}", file, error.message);
  return error;
}

std::vector<SampledEvent> sampled_events(const perfdata::Reader& reader) {
  std::vector<SampledEvent> events;
  for (const perfdata::EventDescription& event : reader.events()) {
    const auto number = static_cast<u32>(events.size());
    events.push_back({.name = event.name,
                      .branches = use_of(event.attr),
                      .counters = {logged_in_group(reader, number), counter_bits(reader.metadata())}});
  }
  return events;
}

std::vector<std::string> logged_events(const perfdata::Reader& reader) {
  std::vector<std::string> names;
  for (const perfdata::EventDescription& event : reader.events())
    if (is_logged(event)) names.push_back(event.name);
  return names;
}

std::vector<std::string> notes_on_events(const perfdata::Reader& reader) {
  std::vector<std::string> notes;
  for (const auto& [attr, name, ids] : reader.events()) {
    if (use_of(attr) == BranchUse::chosen_branches)
      notes.push_back(fmt::format(
          "{}: its branch stacks are filtered ({}), so that the code between two entries is not known to be "
          "straight: no coverage and no rates are shown, and shares are among these branches; record with -b",
          name, what_is_left(attr)));
    if ((attr.sample_type & perf::sample::STACK_USER) != 0)
      notes.push_back(fmt::format(
          "{}: its samples have copies of the stack (--call-graph dwarf), which are not unwound: callers in "
          "user code are not known; 'perf report' unwinds, --call-graph fp or lbr records callers",
          name));
  }
  return notes;
}

}  // namespace pmusim::annotate
