// SPDX-License-Identifier: MIT
#include "pebs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/input_file.h"
#include "base/output_file.h"
#include "pmusim/arch/debug_store.h"

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
  auto file = OutputFile::create(path);
  if (!file.ok()) return Failure(file.error());
  for (const auto bytes : {std::as_bytes(std::span(&header, 1)), std::span(buffer.bytes)})
    if (auto written = file->write(bytes); !written.ok()) return written;
  return file->commit();
}

Result<pebs::GeneratedBuffer, Error> read_pebs_file(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file.ok()) return Failure(file.error());
  PebsFileHeader header{};
  if (file->size() < sizeof(header))
    return Failure(
        Error(fmt::format("{}: ends inside its {}-byte header; `pmusim pebs generate` makes such files", path,
                          sizeof(header))));
  if (const auto read = file->read(0, std::as_writable_bytes(std::span(&header, 1))); !read.ok())
    return Failure(read.error());
  if (std::memcmp(header.magic, pebs_file_magic, sizeof(header.magic)) != 0)
    return Failure(Error(fmt::format("{}: is no PEBS buffer: it does not start with PEBSBUF1", path)));
  if (!pebs::is_known(header.format))
    return Failure(Error(fmt::format("{}: offset 8: PEBS format {} does not exist; 0 to 6 and 15 do", path,
                                     u32{header.format})));
  const u64 present = file->size() - sizeof(header);
  if (header.data_bytes != present)
    return Failure(Error(fmt::format("{}: offset 24: {} bytes of records announced, but {} follow", path,
                                     u64{header.data_bytes}, present)));
  if (present > longest_buffer)
    return Failure(Error(fmt::format("{}: {} bytes of records; at most {} can be demultiplexed at once", path,
                                     present, longest_buffer)));
  pebs::GeneratedBuffer buffer{
      .format = header.format, .enabled = header.enabled, .record_bytes = header.record_bytes};
  buffer.bytes.resize(present);
  if (const auto read = file->read(sizeof(header), buffer.bytes); !read.ok()) return Failure(read.error());
  return buffer;
}

}  // namespace pmusim::tools
