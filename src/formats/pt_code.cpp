// SPDX-License-Identifier: MIT
#include "formats/pt_code.h"

#include <algorithm>

#include "base/build_id.h"
#include "pmusim/trace/trace.h"
#include "trace/build_id.h"

namespace pmusim::formats {
namespace {

Code code_of(const trace::Block& block, const x86::Instruction& instruction) {
  Code code;
  for (const std::byte byte : block.code_of(instruction)) code.push_back(byte);
  return code;
}

}  // namespace

Result<RecordedCode, Error> RecordedCode::read(const std::string& trace) {
  auto reader = trace::Reader::open(trace);
  if (!reader) return Failure(reader.error());
  RecordedCode code;
  std::set<std::pair<u32, u32>> known;  // process and block
  u32 pid = 0;
  for (;;) {
    const auto item = reader->next();
    if (!item) return Failure(item.error());
    if (!item->has_value()) return code;
    if (const auto* record = std::get_if<trace::SideBandRecord>(&**item)) {
      if (const auto* to = std::get_if<trace::ThreadSwitch>(record)) pid = to->pid;
      continue;
    }
    const trace::Block& block = *std::get<trace::BlockRun>(**item).block;
    if (!known.emplace(pid, block.id).second) continue;
    for (const x86::Instruction& i : block.instructions) code.by_pid_[pid][i.ip] = code_of(block, i);
  }
}

std::span<const std::byte> RecordedCode::at(u32 pid, u64 ip) const {
  const auto process = by_pid_.find(pid);
  if (process == by_pid_.end()) return {};
  const auto found = process->second.find(ip);
  return found == process->second.end() ? std::span<const std::byte>() : found->second.bytes();
}

void PtCode::map(u32 pid, const trace::Mapping& mapping) {
  Space& space = spaces_[pid];
  const u64 end = mapping.start + mapping.bytes;
  clear(space, mapping.start, end);
  space[mapping.start] = {end, mapping.file_offset, file_number(mapping)};
}

// What was mapped there is left at both sides.
void PtCode::clear(Space& space, u64 start, u64 end) {
  auto at = space.upper_bound(start);
  if (at != space.begin()) --at;
  while (at != space.end() && at->first < end) {
    const auto [old_start, old] = *at;
    if (old.end <= start) {
      ++at;
      continue;
    }
    at = space.erase(at);
    if (old_start < start) space[old_start] = {start, old.file_offset, old.file};
    if (old.end > end) space[end] = {old.end, old.file_offset + (end - old_start), old.file};
  }
}

std::size_t PtCode::file_number(const trace::Mapping& mapping) {
  const auto [entry, is_new] = numbers_.try_emplace({mapping.path, mapping.build_id}, files_.size());
  if (is_new) files_.push_back({mapping.path, mapping.build_id, false, std::nullopt});
  return entry->second;
}

std::size_t PtCode::read(u32 pid, u64 ip, std::span<std::byte> out) {
  if (const auto recorded = recorded_.at(pid, ip); !recorded.empty()) {
    const std::size_t bytes = std::min(recorded.size(), out.size());
    std::copy_n(recorded.begin(), bytes, out.begin());
    return bytes;
  }
  std::size_t done = 0;
  while (done < out.size()) {
    const Space& space = spaces_[pid];
    const auto behind = space.upper_bound(ip + done);
    if (behind == space.begin()) break;
    const auto& [start, piece] = *std::prev(behind);
    if (ip + done >= piece.end) break;
    const u64 offset = piece.file_offset + (ip + done - start);
    const auto bytes = page(piece.file, offset / page_bytes);
    const std::size_t skipped = offset % page_bytes;
    if (skipped >= bytes.size()) break;
    const std::size_t taken = static_cast<std::size_t>(
        std::min<u64>({bytes.size() - skipped, out.size() - done, piece.end - ip - done}));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(skipped), taken,
                out.begin() + static_cast<std::ptrdiff_t>(done));
    done += taken;
  }
  return done;
}

std::span<const std::byte> PtCode::page(std::size_t number, u64 page_number) {
  const auto known = pages_.find({number, page_number});
  if (known != pages_.end()) return known->second;
  const auto& file = open(files_[number]);
  const u64 offset = page_number * page_bytes;
  if (!file || offset >= file->size()) return {};
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<u64>(page_bytes, file->size() - offset)));
  if (!file->read(offset, bytes)) return {};
  if (pages_.size() >= max_pages) pages_.clear();
  return pages_[{number, page_number}] = std::move(bytes);
}

const std::optional<InputFile>& PtCode::open(File& file) {
  if (std::exchange(file.opened, true)) return file.contents;
  const auto bytes = [](const std::vector<u8>& id) { return std::as_bytes(std::span(id)); };
  const bool fits =
      file.build_id.empty() || is_same_build(bytes(file.build_id), bytes(trace::build_id_of_file(file.path)));
  auto opened = InputFile::open(file.path);
  if (fits && opened)
    file.contents = *std::move(opened);
  else
    missing_.insert(file.path);
  return file.contents;
}

}  // namespace pmusim::formats
