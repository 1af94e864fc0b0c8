// SPDX-License-Identifier: MIT
// What is left of a trace when writing it fails or its writer is killed: whole chunks, or nothing.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/trace/sample_trace.h"
#include "trace/bytes.h"
#include "trace/format.h"
#include "trace/program_limits.h"
#include "trace/recording.h"
#include "trace/side_band_codec.h"

namespace pmusim::trace {
namespace {

/// Some chunks with addresses that do not compress.
bool write_chunks(const std::string& path, unsigned chunks) {
  auto writer = Writer::create(path, {.addresses = true});
  if (!writer.ok()) return false;
  const std::vector<std::byte> push(max_block_instructions, std::byte{0x50});
  const Block& block = writer->add_block(0x400000, push, std::vector<u8>(max_block_instructions, 1));
  std::mt19937_64 random(1);
  std::vector<u64> addresses(max_block_instructions);
  for (u64 run = 0; run < chunks * (chunk_stream_bytes / 9 / max_block_instructions); ++run) {
    for (u64& address : addresses) address = random();
    if (!writer->run({&block, block.start(), addresses, {}, {}}).ok()) return false;
  }
  return writer->finish().ok();
}

/// Writes in a process of its own; what it does before comes first.
template <class F>
int status_of_writer(const std::string& path, unsigned chunks, F prepare) {
  const pid_t child = ::fork();
  if (child == 0) {
    prepare();
    ::_exit(write_chunks(path, chunks) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void expect_readable_or_nothing(const TemporaryDirectory& directory, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    EXPECT_EQ(directory.entries(), 0u);
    return;
  }
  EXPECT_EQ(directory.entries(), 1u);
  const auto items = read_all(path);
  ASSERT_TRUE(items.ok()) << items.error().message;
  EXPECT_EQ(items->size() * max_block_instructions, Reader::open(path)->instruction_count());
}

TEST(FullDisk, LeavesWholeChunksOrNothing) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  constexpr rlim_t whole_bytes = 9u << 20, points = 20;
  unsigned readable = 0;
  for (rlim_t point = 0; point < points; ++point) {
    const rlimit limit{whole_bytes * point / points, RLIM_INFINITY};
    const int status = status_of_writer(path, 2, [&] {
      std::signal(SIGXFSZ, SIG_IGN);
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(WEXITSTATUS(status), limit.rlim_cur < 7u << 20 ? 1 : WEXITSTATUS(status));
    expect_readable_or_nothing(directory, path);
    readable += std::filesystem::remove(path) ? 1 : 0;
  }
  EXPECT_GT(readable, 5u);
  EXPECT_LT(readable, points);
}

TEST(FullDisk, LeavesTheFileThatWasToBeReplaced) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{1} << 20, rlim_t{6} << 20}) {
    write_content(path, {'o', 'l', 'd'});
    const int status = status_of_writer(path, 2, [&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(file_content(path), (std::vector<char>{'o', 'l', 'd'}));
    EXPECT_EQ(directory.entries(), 1u);
  }
}

/// Records a program, with little room left in the first chunk and none in the file: whether it says so.
bool fails_to_record(const std::string& path) {
  auto writer = Writer::create(path, {.addresses = true});
  const SideBandRecord map = Map{1, {0x1000, 0x1000, 0, 5, 2, "/bin/sample", {}}};
  ByteWriter encoded;
  encode(map, encoded);
  for (std::size_t n = 0; n < (chunk_stream_bytes - 1) / encoded.size(); ++n)
    if (!writer.ok() || !writer->side_band(map).ok()) return false;
  const ProgramLimits limits = take_limits_off();
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit of_file{64, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &of_file);
  const auto pid = start_traced({"/bin/true"}, limits);
  if (!pid.ok()) return false;
  cpu_set_t cpus{};
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  const RecordingOptions options{path};
  const auto summary = Recording(*writer, {.addresses = true}, options).run(*pid, Disguise(cpus, {false}));
  return !summary.ok() && summary.error().message.find("File too large") != std::string::npos;
}

TEST(FullDisk, EndsARecordingWithTheError) {
  TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fails_to_record(directory.file("t")) ? 7 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(KilledWriter, LeavesWholeChunksOrNothing) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  std::mt19937 random(1);
  for (unsigned moment = 0; moment < 20; ++moment) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_chunks(path, 3) ? 0 : 1);
    ::usleep(static_cast<useconds_t>(random() % 60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    expect_readable_or_nothing(directory, path);
    std::filesystem::remove(path);
  }
}

TEST(KilledWriter, LeavesTheOldFileOrTheWholeNewOne) {
  TemporaryDirectory directory;
  const std::string path = directory.file("t");
  ASSERT_TRUE(write_chunks(path, 3));
  const auto whole = file_content(path);
  const std::vector<char> old{'o', 'l', 'd'};
  std::mt19937 random(2);
  for (unsigned moment = 0; moment < 20; ++moment) {
    write_content(path, old);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_chunks(path, 3) ? 0 : 1);
    ::usleep(static_cast<useconds_t>(random() % 100'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(file_content(path) == old || file_content(path) == whole);
    // For a moment the new file has a name of its own: Linux cannot give one without a name that of another.
    const auto folder = std::filesystem::path(path).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path() == path) continue;
      EXPECT_TRUE(entry.path().extension() == ".partial" && file_content(entry.path()) == whole);
      std::filesystem::remove(entry.path());
    }
  }
}

}  // namespace
}  // namespace pmusim::trace
