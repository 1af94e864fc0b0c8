#include "pebs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "pmusim/arch/pebs_format.h"

namespace pmusim::tools {

namespace {

constexpr u64 longest_buffer = 0xFFFF'FFFF;

}  // namespace

Result<Done, Error> write_pebs_file(const std::string& path, const pebs::GeneratedBuffer& buffer) {
  PebsFileHeader header{};
  std::copy(std::begin(pebs_file_magic), std::end(pebs_file_magic), header.magic);
  header.format = buffer.format;
  header.record_bytes = buffer.record_bytes;
  header.enabled = buffer.enabled;
  header.data_bytes = buffer.bytes.size();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(reinterpret_cast<const char*>(buffer.bytes.data()),
             static_cast<std::streamsize>(buffer.bytes.size()));
  if (!file.flush()) return Failure(Error(fmt::format("{}: cannot be written", path)));
  return Done{};
}

Result<pebs::GeneratedBuffer, Error> read_pebs_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure(Error(fmt::format("{}: cannot be opened", path)));
  std::error_code no_size;
  const u64 file_bytes = std::filesystem::file_size(path, no_size);
  PebsFileHeader header{};
  if (no_size || !file.read(reinterpret_cast<char*>(&header), sizeof(header)))
    return Failure(
        Error(fmt::format("{}: ends inside its {}-byte header; `pmusim pebs generate` makes such files", path,
                          sizeof(header))));
  if (std::memcmp(header.magic, pebs_file_magic, sizeof(header.magic)) != 0)
    return Failure(Error(fmt::format("{}: is no PEBS buffer: it does not start with PEBSBUF1", path)));
  if (!pebs::is_known(header.format))
    return Failure(Error(fmt::format("{}: offset 8: PEBS format {} does not exist; 0 to 6 and 15 do", path,
                                     u32{header.format})));
  const u64 present = file_bytes - sizeof(header);
  if (header.data_bytes != present)
    return Failure(Error(fmt::format("{}: offset 24: {} bytes of records announced, but {} follow", path,
                                     u64{header.data_bytes}, present)));
  if (present > longest_buffer)
    return Failure(Error(fmt::format("{}: {} bytes of records; at most {} can be demultiplexed at once", path,
                                     present, longest_buffer)));
  pebs::GeneratedBuffer buffer{
      .format = header.format, .enabled = header.enabled, .record_bytes = header.record_bytes};
  buffer.bytes.resize(present);
  if (!file.read(reinterpret_cast<char*>(buffer.bytes.data()), static_cast<std::streamsize>(present)))
    return Failure(Error(fmt::format("{}: cannot be read to its end", path)));
  return buffer;
}

}  // namespace pmusim::tools
