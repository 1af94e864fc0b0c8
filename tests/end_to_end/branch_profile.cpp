#include "branch_profile.h"

#include <cstring>
#include <stdexcept>

#include "command.h"
#include "pmusim/core/core.h"
#include "pmusim/trace/reader.h"

namespace pmusim::test {
namespace {

template <class T>
T get(const std::string& bytes, std::size_t offset) {
  T value;
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("perf.data ends early");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// What stands in front of the branch stack of a sample, 8 bytes each but for READ and the like, which the
/// tests do not ask for.
std::size_t bytes_before_branches(u64 sample_type) {
  using namespace perf::sample;
  constexpr u64 fixed = IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD;
  constexpr u64 behind = BRANCH_STACK | WEIGHT | DATA_SRC | TRANSACTION | WEIGHT_STRUCT | PHYS_ADDR;
  if ((sample_type & ~(fixed | behind)) != 0)
    throw std::runtime_error("sample type has fields of other sizes");
  std::size_t bytes = 0;
  for ([[maybe_unused]] const unsigned n : set_bits(sample_type & fixed)) bytes += 8;
  return bytes;
}

BranchSample read_sample(const std::string& file, std::size_t record, const perf::Attr& attr) {
  constexpr std::size_t header = 8;
  const bool identified = (attr.sample_type & perf::sample::IDENTIFIER) != 0;
  BranchSample sample;
  sample.ip = get<u64>(file, record + header + (identified ? 8 : 0));
  std::size_t at = record + header + bytes_before_branches(attr.sample_type);
  const u64 count = get<u64>(file, at);
  at += (attr.branch_sample_type & perf::branch::HW_INDEX) != 0 ? 16 : 8;
  for (u64 i = 0; i < count; ++i, at += sizeof(perf::BranchEntry))
    sample.branches.push_back(get<perf::BranchEntry>(file, at));
  return sample;
}

}  // namespace

std::vector<ExecutedBranch> executed_branches(const std::string& trace_path, const std::string& model) {
  trace::Reader reader = std::move(trace::Reader::open(trace_path)).value();
  Core core = std::move(Core::create(*find_cpu_model(model), reader.contents())).value();
  std::vector<ExecutedBranch> branches;
  while (true) {
    const Result<std::optional<trace::Item>, Error> item = reader.next();
    if (!item.ok()) throw std::runtime_error(item.error().message);
    if (!item->has_value()) return branches;
    const auto* const run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) continue;
    core.run(*run, [&](const Retirement& r) {
      if (r.branch != BranchKind::none)
        branches.push_back({r.ip, r.next_ip, r.branch, r.taken, r.mispredicted, r.cpl_after});
    });
  }
}

std::vector<BranchSample> branch_samples(const std::string& path) {
  constexpr std::size_t attrs_section = 24, data_section = 40;
  const std::string file = read_file(path);
  if (!file.starts_with("PERFILE2")) throw std::runtime_error(path + " is no perf.data");
  const std::size_t attr_offset = get<u64>(file, attrs_section);
  perf::Attr attr;
  std::memcpy(&attr, file.data() + attr_offset, get<u32>(file, attr_offset + 4));
  const std::size_t begin = get<u64>(file, data_section), end = begin + get<u64>(file, data_section + 8);
  std::vector<BranchSample> samples;
  for (std::size_t at = begin; at < end;) {
    const auto header = get<perf::RecordHeader>(file, at);
    if (header.size < sizeof header) throw std::runtime_error("record without size");
    if (header.type == static_cast<u32>(perf::RecordType::sample))
      samples.push_back(read_sample(file, at, attr));
    at += header.size;
  }
  return samples;
}

}  // namespace pmusim::test
