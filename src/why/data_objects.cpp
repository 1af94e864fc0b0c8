// SPDX-License-Identifier: MIT
#include "why/data_objects.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "base/demangle.h"
#include "symbols/elf_file.h"

namespace pmusim::why {

namespace {

constexpr u64 sys_brk = 12;
constexpr std::array<std::string_view, 5> kind_names{"global", "file", "heap", "stack", "other"};

/// Variables, functions of the heap, and how the file is laid out; empty if it cannot be read or is another
/// one by now.
struct DataOfFile {
  std::vector<symbols::Symbol> variables;
  std::vector<std::pair<u64, HeapCall>> heap_functions;
  std::vector<GElf_Phdr> segments;
};

DataOfFile data_of(const trace::Mapping& mapping, const std::filesystem::path& debug_directory) {
  symbols::FileIdentity identity{mapping.path, {}};
  for (const u8 byte : mapping.build_id) identity.build_id.push_back(static_cast<std::byte>(byte));
  const auto file = symbols::ElfFile::open(mapping.path);
  if (!file || (!identity.build_id.empty() && file->build_id() != identity.build_id)) return {};
  DataOfFile data{symbols::object_symbols(*file, SHT_SYMTAB), {}, file->load_segments()};
  if (data.variables.empty())
    if (const auto separate = symbols::find_debug_file(&*file, identity, debug_directory))
      data.variables = symbols::object_symbols(*separate, SHT_SYMTAB);
  if (data.variables.empty()) data.variables = symbols::object_symbols(*file, SHT_DYNSYM);
  for (const u32 table : {SHT_SYMTAB, SHT_DYNSYM})
    for (const symbols::Symbol& function : symbols::function_symbols(*file, table))
      if (const auto call = heap_call(function.name)) data.heap_functions.emplace_back(function.start, *call);
  return data;
}

}  // namespace

std::string_view name_of(DataKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

DataObjects::DataObjects(std::filesystem::path debug_directory)
    : debug_directory_(std::move(debug_directory)) {
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
    objects_.push_back({.kind = static_cast<DataKind>(kind), .name = {}, .module = {}});
}

void DataObjects::take(const trace::SideBandRecord& record) {
  heap_.take(record);
  if (const auto* const map_record = std::get_if<trace::Map>(&record))
    map(map_record->pid, map_record->mapping);
  if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) {
    processes_[start->pid] = {};
    pid_ = start->pid;
  }
  if (const auto* const start = std::get_if<trace::ThreadStart>(&record);
      start != nullptr && start->pid != start->parent_pid)
    processes_[start->pid] = Process(processes_[start->parent_pid]);
  if (const auto* const change = std::get_if<trace::ThreadSwitch>(&record)) pid_ = change->pid;
  if (const auto* const call = std::get_if<trace::Syscall>(&record);
      call != nullptr && call->number == sys_brk && call->result > 0) {
    Process& process = processes_[pid_];
    if (process.first_break == 0) process.first_break = static_cast<u64>(call->result);
    process.last_break = std::max(process.last_break, static_cast<u64>(call->result));
  }
}

// A file is read once for each place that its code is moved to; its data is as far from there as the file
// says.
void DataObjects::map(u32 pid, const trace::Mapping& mapping) {
  Process& process = processes_[pid];
  if ((mapping.protection & PROT_EXEC) == 0 || !mapping.path.starts_with('/')) return;
  const DataOfFile data = data_of(mapping, debug_directory_);
  const auto segment = std::ranges::find_if(data.segments, [&](const GElf_Phdr& s) {
    return mapping.file_offset >= (s.p_offset & ~u64{0xFFF}) && mapping.file_offset < s.p_offset + s.p_filesz;
  });
  if (segment == data.segments.end()) return;
  const u64 moved = mapping.start - (segment->p_vaddr - segment->p_offset + mapping.file_offset);
  if (!process.files.emplace(mapping.path, moved).second) return;
  for (const auto& [address, call] : data.heap_functions) heap_.add_function(pid, address + moved, call);
  for (const symbols::Symbol& variable : data.variables)
    add(process, {variable.start + moved, variable.end + moved,
                  number({.kind = DataKind::global,
                          .name = demangled(variable.name),
                          .module = mapping.path,
                          .bytes = variable.end - variable.start})});
  for (const GElf_Phdr& s : data.segments)
    if ((s.p_flags & PF_X) == 0)
      add(process, {s.p_vaddr + moved, s.p_vaddr + moved + s.p_memsz,
                    number({.kind = DataKind::file, .name = mapping.path, .module = {}})});
}

/// What is there already stays, so that what is left of a file's data lies between its variables.
void DataObjects::add(Process& process, ObjectRange range) {
  for (u64 start = range.start; start < range.end;) {
    const auto after = process.ranges.upper_bound(start);
    if (after != process.ranges.begin() && std::prev(after)->second.end > start) {
      start = std::prev(after)->second.end;
      continue;
    }
    const u64 end = after == process.ranges.end() ? range.end : std::min(range.end, after->first);
    process.ranges.emplace(start, ObjectRange{start, end, range.object});
    start = end;
  }
}

u32 DataObjects::number(DataObject object) {
  const auto [known, is_new] =
      number_.try_emplace({object.module, object.name}, static_cast<u32>(objects_.size()));
  if (is_new) objects_.push_back(std::move(object));
  return known->second;
}

u32 DataObjects::number_of_site(symbols::AddressSpaces::Id space, u64 site) {
  const auto [known, is_new] = number_of_site_.try_emplace({space, site}, static_cast<u32>(objects_.size()));
  if (is_new)
    objects_.push_back({.kind = DataKind::heap, .name = {}, .module = {}, .space = space, .site = site});
  return known->second;
}

bool DataObjects::run(const trace::BlockRun& run, symbols::AddressSpaces::Id space) {
  const HeapChange change = heap_.run(run);
  if (change.given == nullptr) return change.released;
  change.given->object = number_of_site(space, change.given->site);
  DataObject& object = objects_[change.given->object];
  ++object.blocks;
  object.bytes += change.given->end - change.given->start;
  return true;
}

ObjectRange DataObjects::find(u64 address) const {
  const auto process = processes_.find(pid_);
  if (process == processes_.end()) return {address, address + 1, nameless(DataKind::other)};
  if (const HeapBlock* const block = heap_.find(address)) return {block->start, block->end, block->object};
  const Process& data = process->second;
  const auto after = data.ranges.upper_bound(address);
  if (after != data.ranges.begin() && std::prev(after)->second.contains(address))
    return std::prev(after)->second;
  const bool in_heap = address >= data.first_break && address < data.last_break;
  return {address, address + 1, nameless(in_heap ? DataKind::heap : DataKind::other)};
}

}  // namespace pmusim::why
