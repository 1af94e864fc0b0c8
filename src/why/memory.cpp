// SPDX-License-Identifier: MIT
#include "why/memory.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "why/processes.h"
#include "why/trace_pass.h"

namespace pmusim::why {

namespace {

constexpr std::array<std::string_view, data_sources> source_names{"L1", "fill buffer", "L2", "L3", "memory"};

u64 bytes_of_access(u64 offset, u64 bytes) {
  return low_bits(static_cast<unsigned>(std::min(bytes, line_bytes - offset))) << offset;
}

class MemoryCollector {
 public:
  MemoryCollector(IntervalCore core, const annotate::Options& options)
      : core_(std::move(core)),
        processes_(collection_.spaces, options.jit_directory.string()),
        objects_(options.debug_directory) {
    enter();
  }

  void take(const trace::SideBandRecord& record) {
    if (trace::flushes(record)) core_.interrupt();
    processes_.take(record);
    objects_.take(record);
    if (const auto* const start = std::get_if<trace::ThreadStart>(&record))
      has_threads_ = has_threads_ || start->pid == start->parent_pid;
    if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) tid_ = start->tid;
    if (const auto* const change = std::get_if<trace::ThreadSwitch>(&record)) tid_ = change->tid;
    enter();
  }

  void run(const trace::BlockRun& run) {
    if (objects_.run(run, spaces_[space_].id)) ++generation_;
    const BlockExecution execution = core_.execute(run);
    Rows& rows = rows_of(*run.block);
    u32 number = 0;
    core_.retire(execution, [&](const Retirement& r) {
      if (r.length == 0) return;  // an abort
      for (const MemoryAccess& access : r.memory) add(rows, number, access);
      ++number;
    });
    const std::size_t before = collection_.instructions_retired / stretch_instructions;
    collection_.instructions_retired += run.block->instructions.size();
    if (collection_.instructions_retired / stretch_instructions != before) collection_.reuse.end_stretch();
  }

  MemoryCollection take_all() {
    collection_.reuse.end_stretch();
    for (std::size_t space = 0; space < spaces_.size(); ++space)
      for (const Rows& rows : spaces_[space].blocks) take(spaces_[space].id, rows);
    std::ranges::stable_sort(collection_.instructions, {}, &key_of);
    collection_.objects = objects_.objects();
    collection_.object_counts.resize(collection_.objects.size());
    for (const AccessCounts& each : collection_.object_counts) collection_.total += each;
    for (auto& [key, line] : shared_)
      if (line.users.size() > 1 && line.is_written()) collection_.shared.push_back(std::move(line));
    std::ranges::sort(collection_.shared, [](const SharedLine& a, const SharedLine& b) {
      return std::tuple(b.accesses(), a.space, a.address) < std::tuple(a.accesses(), b.space, b.address);
    });
    return std::move(collection_);
  }

 private:
  struct Row {
    AccessCounts counts;
    StrideVote stride;
    u64 last_address = ~u64{0};
    ObjectRange object;
    u64 generation = 0;  // of the address spaces in which it was there
  };
  struct Rows {
    const trace::Block* block = nullptr;
    std::vector<Row> of_instructions;
  };
  struct SpaceRows {
    symbols::AddressSpaces::Id id = 0;
    std::vector<Rows> blocks;
  };

  static std::pair<u32, u64> key_of(const AccessingInstruction& i) { return std::pair(i.space, i.ip); }

  void enter() {
    const symbols::AddressSpaces::Id id = processes_.running();
    const auto known = std::ranges::find(spaces_, id, &SpaceRows::id);
    space_ = static_cast<std::size_t>(known - spaces_.begin());
    if (known == spaces_.end()) spaces_.push_back({.id = id, .blocks = {}});
    ++generation_;
  }

  Rows& rows_of(const trace::Block& block) {
    std::vector<Rows>& blocks = spaces_[space_].blocks;
    if (blocks.size() <= block.id) blocks.resize(std::max<std::size_t>(block.id + 1, 2 * blocks.size()));
    Rows& rows = blocks[block.id];
    if (rows.block == nullptr) {
      rows.block = &block;
      rows.of_instructions.resize(block.instructions.size());
    }
    return rows;
  }

  void add(Rows& rows, u32 number, const MemoryAccess& access) {
    Row& row = rows.of_instructions[number];
    AccessCounts once;
    if (access.kind == AccessKind::load) {
      once.loads_from[static_cast<std::size_t>(access.level)] = 1;
      once.load_cycles = access.latency_cycles;
      collection_.latency[static_cast<std::size_t>(access.level)].add(access.latency_cycles);
    } else {
      once.stores = 1;
    }
    once.tlb_misses = access.tlb == TlbLevel::l1 ? 0 : 1;
    once.walks = access.tlb == TlbLevel::walk ? 1 : 0;
    row.counts += once;
    // A read-modify-write goes to one address twice.
    if (access.kind == AccessKind::load || access.address != row.last_address) row.stride.add(access.address);
    row.last_address = access.address;
    const u32 object = object_at(rows, row, number, access);
    if (collection_.object_counts.size() <= object) collection_.object_counts.resize(object + 1);
    collection_.object_counts[object] += once;
    const u64 line = access.address / line_bytes;
    collection_.reuse.access(line);
    if (has_threads_) share(line, object, rows.block->instructions[number].ip, access);
  }

  /// What the instruction used last is asked first. What is addressed by the stack pointer is a stack.
  u32 object_at(const Rows& rows, Row& row, u32 number, const MemoryAccess& access) {
    if (!row.object.contains(access.address) || row.generation != generation_) {
      row.generation = generation_;
      row.object = objects_.find(access.address);
      if (row.object.object == DataObjects::nameless(DataKind::other) &&
          (uses_stack(rows.block->instructions[number]) || is_near_stack(access.address)))
        row.object.object = DataObjects::nameless(DataKind::stack);
    }
    if (row.object.object == DataObjects::nameless(DataKind::stack)) widen_stack(access.address);
    return row.object.object;
  }
  static bool uses_stack(const x86::Instruction& instruction) {
    constexpr u8 stack_pointer = 4;
    return std::ranges::any_of(instruction.accesses(),
                               [](const x86::MemoryOperand& o) { return o.base == stack_pointer; });
  }
  /// Between the lowest and the highest address that this thread used as a stack.
  bool is_near_stack(u64 address) const {
    const auto known = stacks_.find(tid_);
    return known != stacks_.end() && address >= known->second.first && address <= known->second.second;
  }
  void widen_stack(u64 address) {
    auto& [lowest, highest] = stacks_.try_emplace(tid_, address, address).first->second;
    lowest = std::min(lowest, address);
    highest = std::max(highest, address);
  }

  void share(u64 line, u32 object, u64 ip, const MemoryAccess& access) {
    SharedLine& shared = shared_[{objects_.running(), line}];
    if (shared.users.empty()) {
      shared.address = line * line_bytes;
      shared.object = object;
      shared.space = spaces_[space_].id;
    }
    auto user = std::ranges::find(shared.users, tid_, &SharedLine::User::tid);
    if (user == shared.users.end()) user = shared.users.insert(user, {.tid = tid_});
    ++user->accesses;
    const u64 bytes = bytes_of_access(access.address % line_bytes, access.bytes);
    (access.kind == AccessKind::load ? user->read_bytes : user->written_bytes) |= bytes;
    if (user->votes == 0) user->ip = ip;
    user->votes += user->ip == ip ? u64{1} : ~u64{0};
  }

  void take(symbols::AddressSpaces::Id space, const Rows& rows) {
    for (std::size_t n = 0; n < rows.of_instructions.size(); ++n) {
      const Row& row = rows.of_instructions[n];
      if (row.counts.loads() + row.counts.stores == 0) continue;
      collection_.instructions.push_back(
          {space, rows.block->instructions[n].ip, row.counts, row.stride.result()});
    }
  }

  struct KeyHash {
    std::size_t operator()(const std::pair<u32, u64>& key) const {
      return std::hash<u64>()(key.second ^ u64{key.first} << 40);
    }
  };

  IntervalCore core_;
  MemoryCollection collection_;
  Processes processes_;
  DataObjects objects_;
  std::vector<SpaceRows> spaces_;
  std::size_t space_ = 0;
  u32 tid_ = 0;
  bool has_threads_ = false;
  u64 generation_ = 0;
  std::unordered_map<u32, std::pair<u64, u64>> stacks_;  // by thread
  std::unordered_map<std::pair<u32, u64>, SharedLine, KeyHash> shared_;
};

}  // namespace

std::string_view name_of(CacheLevel level) { return source_names[static_cast<std::size_t>(level)]; }

u64 AccessCounts::loads() const {
  u64 sum = 0;
  for (const u64 each : loads_from) sum += each;
  return sum;
}

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  for (std::size_t n = 0; n < data_sources; ++n) loads_from[n] += other.loads_from[n];
  stores += other.stores;
  tlb_misses += other.tlb_misses;
  walks += other.walks;
  load_cycles += other.load_cycles;
  return *this;
}

u64 SharedLine::accesses() const {
  u64 sum = 0;
  for (const User& user : users) sum += user.accesses;
  return sum;
}

bool SharedLine::is_written() const {
  return std::ranges::any_of(users, [](const User& user) { return user.written_bytes != 0; });
}

bool SharedLine::is_shared_falsely() const {
  for (const User& writer : users) {
    const auto others = [&](const User& user) {
      return user.tid != writer.tid && writer.written_bytes != 0 &&
             ((user.read_bytes | user.written_bytes) & writer.written_bytes) == 0;
    };
    if (std::ranges::any_of(users, others)) return true;
  }
  return false;
}

Result<MemoryCollection, Error> collect_memory(trace::Source& source, const CpuModel& model,
                                               const annotate::Options& options,
                                               const OnProgress& on_progress, StartState start) {
  auto core = core_for(source, model, start, on_progress);
  if (!core.ok()) return Failure(core.error());
  MemoryCollector collector(std::move(core).value(), options);
  const auto passed = pass_on(
      source, on_progress, [&](const trace::BlockRun& run) { collector.run(run); },
      [&](const trace::SideBandRecord& record) { collector.take(record); });
  if (!passed.ok()) return Failure(passed.error());
  MemoryCollection collection = collector.take_all();
  collection.addresses = source.contents().addresses;
  return collection;
}

}  // namespace pmusim::why
