// SPDX-License-Identifier: MIT
#include "formats/champsim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "formats/remarks.h"
#include "formats/step_import.h"

namespace pmusim::formats {
namespace {

namespace pin {
constexpr u8 stack_pointer = 6, flags = 25, instruction_pointer = 26;
// By Gpr, in the order of their encodings: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8...
constexpr std::array<u8, 16> general{10, 9, 8, 7, 6, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18};
constexpr u8 first_vector = 64;  // to ChampSim any number will do
}  // namespace pin

constexpr unsigned general_registers = 16, flags_bit = 57;

/// The tracer that defined the format writes a fifth source register into the first store.
constexpr u64 lowest_store = 4096;

/// Which registers a record names.
struct Uses {
  bool writes_ip, writes_sp, reads_ip, reads_sp, reads_flags, reads_other;
  explicit Uses(const ChampSimFields& r)
      : writes_ip(has(r.written, pin::instruction_pointer)),
        writes_sp(has(r.written, pin::stack_pointer)),
        reads_ip(has(r.read, pin::instruction_pointer)),
        reads_sp(has(r.read, pin::stack_pointer)),
        reads_flags(has(r.read, pin::flags)),
        reads_other(std::ranges::any_of(r.read, [](u8 n) {
          return n != 0 && n != pin::instruction_pointer && n != pin::stack_pointer && n != pin::flags;
        })) {}

 private:
  static bool has(std::span<const u8> registers, u8 number) {
    return std::ranges::find(registers, number) != registers.end();
  }
};

/// Puts a value into the first free place; ChampSim has no more room where there is none.
template <class Places, class Value>
void put(Places& places, Value value) {
  const auto same = std::find(places.begin(), places.end(), value);
  const auto free = std::find(places.begin(), places.end(), Value{0});
  if (value != 0 && same == places.end() && free != places.end()) *free = value;
}

template <class Places>
void put_registers(Places& places, x86::RegisterMask mask) {
  if ((mask >> flags_bit & 1) != 0) put(places, pin::flags);
  for (unsigned n = 0; n < flags_bit; ++n) {
    if ((mask >> n & 1) == 0) continue;
    put(places,
        n < general_registers ? pin::general[n] : static_cast<u8>(pin::first_vector + n - general_registers));
  }
}

template <class Record>
void put_branch_registers(Record& record, BranchKind kind, x86::RegisterMask read) {
  const bool call = is_near_call(kind), returns = kind == BranchKind::near_return;
  const bool indirect = kind == BranchKind::indirect_call || kind == BranchKind::indirect_jump;
  put(record.written, pin::instruction_pointer);
  if (call || returns) {
    put(record.written, pin::stack_pointer);
    put(record.read, pin::stack_pointer);
  }
  if (call || kind == BranchKind::conditional || kind == BranchKind::direct_jump)
    put(record.read, pin::instruction_pointer);
  const bool counts_down = (read & 0xFFFF) != 0;  // LOOP, JRCXZ
  if (kind == BranchKind::conditional && !counts_down) put(record.read, pin::flags);
  if (kind == BranchKind::conditional && counts_down) put_registers(record.read, read);
  // What reads none tells its target from memory: any register stands for it.
  if (indirect) put_registers(record.read, (read & 0xFFFF) != 0 ? read & 0xFFEF : x86::RegisterMask{1});
  if (indirect && record.read[call ? 2 : 0] == 0) put(record.read, pin::general[0]);
}

Access& access_at(Step& step, u64 address, bool merge) {
  const auto same = std::ranges::find(step.accesses, address, &Access::address);
  if (merge && same != step.accesses.end()) return *same;
  return step.accesses.emplace_back(Access{.address = address});
}

template <class Record>
ChampSimFields fields_of(std::span<const std::byte> bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return ChampSimFields(record);
}
template <class... Records>
constexpr std::array<ChampSimLayout, sizeof...(Records)> layouts_of{
    ChampSimLayout{sizeof(Records), fields_of<Records>}...};

/// Of the user's code, or of the kernel's.
bool is_any_code_address(u64 address) { return is_code_address(address) || address >= ~u64{0} << 47; }

bool can_be_a_record(const ChampSimFields& record) {
  return is_any_code_address(record.ip) && record.is_branch <= 1 && record.taken <= 1;
}

/// So many are looked at to find where the first record begins.
constexpr std::size_t records_to_look_at = 64;

/// The instruction behind, or the next iteration of a string's.
bool follows(const ChampSimFields& record, const ChampSimFields& last) {
  if (record.ip == last.ip) return record.written == last.written && record.read == last.read;
  return record.ip > last.ip && record.ip - last.ip <= max_instruction_bytes;
}

/// How many records begin there, up to the first that cannot be one, and how many of them follow the one
/// before: if what is taken for instruction pointers are not some, there are few.
struct Guess {
  std::size_t followed = 0, records = 0;
  auto operator<=>(const Guess&) const = default;
};

Guess guess(std::span<const std::byte> bytes, const ChampSimLayout& layout) {
  Guess result;
  std::optional<ChampSimFields> last;
  for (; bytes.size() >= layout.bytes; bytes = bytes.subspan(layout.bytes)) {
    const ChampSimFields record = layout.fields(bytes);
    if (!can_be_a_record(record)) break;
    if (last && follows(record, *last)) ++result.followed;
    last = record;
    ++result.records;
  }
  return result;
}

struct Beginning {
  std::size_t offset = 0;
  Guess guess;
};

/// Where the first record begins: at the first byte, unless all that follows another one can be records, most
/// of these follow each other, and more than at the first.
Beginning first_record(std::span<const std::byte> front, const ChampSimLayout& layout) {
  Beginning best{0, guess(front, layout)};
  for (std::size_t offset = 1; offset < layout.bytes && offset + layout.bytes <= front.size(); ++offset) {
    const auto rest = front.subspan(offset);
    const Guess here = guess(rest, layout);
    const bool all = here.records == rest.size() / layout.bytes, most = 2 * here.followed + 1 >= here.records;
    if (all && most && here > best.guess) best = {offset, here};
  }
  return best;
}

Result<Conversion, Error> import_records(const ImportOptions& options,
                                         std::span<const ChampSimLayout> layouts, ChampSimBranches branches) {
  const auto reader = [&](InputStream stream) {
    return std::make_unique<ChampSimReader>(std::move(stream), layouts, branches);
  };
  return import_steps(
      options, reader,
      "sizes of accesses are not recorded and taken as 8 bytes; lengths are those to the next instruction, "
      "where it followed");
}

}  // namespace

BranchKind branch_kind(const ChampSimFields& record, ChampSimBranches branches) {
  const Uses uses(record);
  const bool sp = uses.reads_sp || uses.writes_sp;
  const bool old = branches == ChampSimBranches::before_2023;
  if (!uses.writes_ip) return BranchKind::none;
  if (!uses.reads_sp && !uses.reads_flags && !uses.reads_other) return BranchKind::direct_jump;
  if (!uses.reads_sp && !uses.reads_flags && uses.reads_other && (old || !uses.reads_ip))
    return BranchKind::indirect_jump;
  if (!sp && uses.reads_ip && (old ? uses.reads_flags && !uses.reads_other : true))
    return BranchKind::conditional;
  if (uses.reads_sp && uses.writes_sp && !uses.reads_flags && uses.reads_ip)
    return uses.reads_other ? BranchKind::indirect_call : BranchKind::direct_call;
  if (uses.reads_sp && uses.writes_sp && !uses.reads_ip) return BranchKind::near_return;
  return BranchKind::indirect_jump;
}

template <class Record>
Record champsim_record(const x86::Instruction& instruction, u64 next_ip, std::span<const u64> addresses) {
  Record record{};
  record.ip = instruction.ip;
  const bool branch = is_near_branch(instruction.branch);  // to Pin a system call is none
  record.is_branch = branch ? 1 : 0;
  const bool always = branch && instruction.branch != BranchKind::conditional;
  record.taken = always || (branch && next_ip != instruction.end()) ? 1 : 0;
  if (branch) {
    put_branch_registers(record, instruction.branch, instruction.registers_read);
  } else {
    put_registers(record.written, instruction.registers_written);
    put_registers(record.read, instruction.registers_read);
  }
  for (std::size_t n = 0; n < addresses.size(); ++n) {
    if (instruction.memory[n].load) put(record.loads, addresses[n]);
    if (instruction.memory[n].store) put(record.stores, addresses[n]);
  }
  return record;
}

template ChampSimRecord champsim_record(const x86::Instruction&, u64, std::span<const u64>);
template CloudSuiteRecord champsim_record(const x86::Instruction&, u64, std::span<const u64>);

Result<std::size_t, Error> ChampSimReader::read(std::span<std::byte> out) {
  const std::size_t known = std::min(out.size(), front_.size() - front_taken_);
  std::copy_n(front_.begin() + static_cast<std::ptrdiff_t>(front_taken_), known, out.begin());
  front_taken_ += known;
  const auto more = stream_.read(out.subspan(known));
  if (!more.ok()) return more;
  offset_ += known + *more;
  return known + *more;
}

Result<Done, Error> ChampSimReader::begin() {
  begun_ = true;
  front_.resize(records_to_look_at * std::ranges::max_element(layouts_, {}, &ChampSimLayout::bytes)->bytes);
  const auto bytes = stream_.read(front_);
  if (!bytes.ok()) return Failure(bytes.error());
  front_.resize(*bytes);
  Beginning best = first_record(front_, layout_);
  for (const ChampSimLayout& other : layouts_.subspan(1))
    if (const Beginning here = first_record(front_, other); here.guess > best.guess) {
      best = here;
      layout_ = other;
    }
  record_.resize(layout_.bytes);
  offset_ = bytes_before_ = front_taken_ = best.offset;
  return Done{};
}

Result<std::optional<ChampSimFields>, Error> ChampSimReader::next_record() {
  if (!begun_)
    if (const auto begun = begin(); !begun.ok()) return Failure(begun.error());
  record_offset_ = offset_;
  const auto bytes = read(record_);
  if (!bytes.ok()) return Failure(bytes.error());
  if (*bytes == record_.size()) return std::optional(layout_.fields(record_));
  bytes_behind_ = *bytes;
  return std::optional<ChampSimFields>();
}

Result<std::optional<Step>, Error> ChampSimReader::next() {
  for (;; ++records_) {
    const auto record = next_record();
    if (!record.ok()) return Failure(record.error());
    if (!record->has_value()) return std::optional<Step>();
    if (!can_be_a_record(**record)) return Failure(no_record(**record));
    if (is_code_address((*record)->ip)) {
      ++records_;
      return std::optional(step_of(**record));
    }
    ++kernel_instructions_;
  }
}

Error ChampSimReader::no_record(const ChampSimFields& fields) const {
  const std::string what =
      is_any_code_address(fields.ip)
          ? fmt::format("is_branch {}, taken {}; expected 0 or 1", fields.is_branch, fields.taken)
          : fmt::format("{:#x} is no address of code", fields.ip);
  constexpr u64 convincing_records = 4;
  if (records_ >= convincing_records) return stream_.damaged(record_offset_, what);
  return Error(
      fmt::format("{}: does not begin with records of {} bytes (champsim's have {}, cloudsuite's {} or {}): "
                  "at offset {}: {}",
                  stream_.path(), layout_.bytes, sizeof(ChampSimRecord), sizeof(CloudSuiteRecord),
                  sizeof(ShortCloudSuiteRecord), record_offset_, what));
}

Step ChampSimReader::step_of(const ChampSimFields& record) const {
  Step step{.ip = record.ip, .kind = branch_kind(record, branches_)};
  step.taken = step.kind != BranchKind::none && (step.kind != BranchKind::conditional || record.taken != 0);
  for (const u64 address : record.loads)
    if (address != 0) access_at(step, address, false).load = true;
  for (const u64 address : record.stores)
    if (address >= lowest_store) access_at(step, address, true).store = true;
  return step;
}

std::vector<std::string> ChampSimReader::left_out() const {
  std::vector<std::string> sentences;
  add_count(sentences, bytes_before_, "bytes were left out: the file begins within a record");
  add_count(sentences, bytes_behind_, "bytes were left out: the file ends within a record");
  add_count(sentences, kernel_instructions_, "instructions of the kernel were left out");
  if (stream_.ended_early()) sentences.emplace_back(packed_data_end_early);
  return sentences;
}

Result<Conversion, Error> import_champsim(const ImportOptions& options) {
  return import_records(options, layouts_of<ChampSimRecord>, ChampSimBranches::since_2023);
}

Result<Conversion, Error> import_champsim_old(const ImportOptions& options) {
  return import_records(options, layouts_of<ChampSimRecord>, ChampSimBranches::before_2023);
}

Result<Conversion, Error> import_cloudsuite(const ImportOptions& options) {
  return import_records(options, (layouts_of<CloudSuiteRecord, ShortCloudSuiteRecord>),
                        ChampSimBranches::since_2023);
}

}  // namespace pmusim::formats
