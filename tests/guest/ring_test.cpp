// SPDX-License-Identifier: MIT
// The ring of the guest's kernel, where it lies in the guest's memory (perf_event_open(2), "MMAP layout"),
// and what a recording says of one that is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "pmu/recording.h"
#include "tests/guest/perf_records.h"

namespace pmusim::test {
namespace {

using machine::Recording;
using machine::Ring;
using testing::HasSubstr;

/// The guest's side: its kernel's page, and two of records.
class GuestPages {
 public:
  Ring ring() { return Ring({pages_[0].data(), pages_[1].data(), pages_[2].data()}); }
  void write(const Bytes& record) {
    for (const std::byte each : record) {
      pages_[1 + written_ / 4096 % 2][written_ % 4096] = each;
      ++written_;
    }
    publish(written_);
  }
  void publish(u64 head) { std::memcpy(pages_[0].data() + 1024, &head, sizeof head); }
  u64 tail() const {
    u64 tail = 0;
    std::memcpy(&tail, pages_[0].data() + 1032, sizeof tail);
    return tail;
  }

 private:
  std::array<std::array<std::byte, 4096>, 3> pages_{};
  u64 written_ = 0;
};

Bytes next_of(Ring& ring) {
  const auto record = ring.next();
  EXPECT_TRUE(record.ok()) << record.error().message;
  return Bytes(record->begin(), record->end());
}

std::string refusal_of(Ring& ring) {
  const auto record = ring.next();
  return record.ok() ? "" : record.error().message;
}

TEST(GuestRing, GivesRecordsInOrderAcrossItsEnd) {
  GuestPages guest;
  Ring ring = guest.ring();
  EXPECT_TRUE(next_of(ring).empty());
  u64 place = 0;
  for (u32 n = 1; n < 1000; ++n) {  // of 32 and 24 bytes by turns, so that some go on at the ring's beginning
    const Bytes record = n % 2 == 0 ? switch_in(n, n) : comm(n, n, "sh");
    guest.write(record);
    EXPECT_EQ(next_of(ring), record) << n;
    EXPECT_EQ(ring.place(), place);
    place += record.size();
    EXPECT_EQ(guest.tail(), place);
  }
  EXPECT_TRUE(next_of(ring).empty());
}

TEST(GuestRing, RefusesARecordThatCannotBe) {
  for (const auto& [size, sentence] :
       {std::pair<u16, const char*>{7, "a record says that it has 7 bytes; expected 8 to 24"},
        {0, "a record says that it has 0 bytes; expected 8 to 24"},
        {25, "a record says that it has 25 bytes; expected 8 to 24"}}) {
    GuestPages guest;
    Ring ring = guest.ring();
    guest.write(lost(1));
    next_of(ring);
    Bytes record = switch_in(5, 5);
    std::memcpy(record.data() + 6, &size, sizeof size);
    guest.write(record);
    EXPECT_EQ(refusal_of(ring), sentence);
    EXPECT_EQ(ring.place(), 32u);
    EXPECT_TRUE(next_of(ring).empty()) << "it is believed no more";
  }
}

TEST(GuestRing, RefusesAKernelThatIsFurtherThanItCanBe) {
  for (const u64 head : {u64{7}, u64{8193}, ~u64{0}}) {
    GuestPages guest;
    Ring ring = guest.ring();
    guest.publish(head);
    EXPECT_EQ(refusal_of(ring),
              "the kernel has written " + std::to_string(head) + " bytes behind it; expected 8 to 8192");
  }
}

/// A trace of one NOP, and what the guest's kernel tells of its tasks meanwhile.
class GuestRecording : public testing::Test {
 protected:
  void record(const std::vector<Bytes>& told) {
    auto writer = trace::Writer::create(path_, {.addresses = true, .kernel = true});
    ASSERT_TRUE(writer.ok());
    Recording recording(std::move(writer).value(), false);
    recording.follow(guest_.ring());
    for (const Bytes& each : told) guest_.write(each);
    const std::array nop{std::byte{0x90}};
    recording.before(0x401000, {});
    recording.retire({x86::decode(nop, 0x401000), nop, 0x401000, 0x401001});
    recording.interrupt_line();
  }
  std::string said_of(const std::vector<Bytes>& told) {
    testing::internal::CaptureStderr();
    record(told);
    return testing::internal::GetCapturedStderr();
  }
  ~GuestRecording() override { std::filesystem::remove(path_); }

  GuestPages guest_;
  std::string path_ = testing::TempDir() + "guest_recording" + std::to_string(getpid());
};

TEST_F(GuestRecording, HasNothingToSayOfAGuestThatIsLinux) {
  EXPECT_EQ(said_of({fork_of(5, 5, 1, 1), switch_in(5, 5)}), "");
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(GuestRecording, SaysOnceWhatItHasLeftOut) {
  EXPECT_EQ(
      said_of({fork_of(~0u, ~0u, 1, 1), switch_in(1 << 22, 5), mmap2(~0u, "/x")}),
      "pmusim-machine: left out 3 of the guest's records of its tasks: Linux gives tasks the numbers 1 to "
      "4194303, and they name others\n");
  EXPECT_TRUE(std::filesystem::exists(path_));
}

using GuestRecordingDeathTest = GuestRecording;

TEST_F(GuestRecordingDeathTest, EndsWithASentenceAtAShortRecord) {
  const std::vector<Bytes> told{lost(1), PerfRecord(7).quad(0).done()};
  EXPECT_EXIT(record(told), testing::ExitedWithCode(2),
              "pmusim-machine: the guest's records of its tasks, at byte 32: a record FORK of 16 bytes; "
              "expected 32 at least\n$");
}

TEST_F(GuestRecordingDeathTest, EndsWithASentenceAtARingThatIsNone) {
  Bytes record = switch_in(5, 5);
  record[6] = std::byte{1};
  EXPECT_EXIT(
      this->record({record}), testing::ExitedWithCode(2),
      "the guest's records of its tasks, at byte 0: a record says that it has 1 bytes; expected 8 to 24");
}

TEST_F(GuestRecordingDeathTest, EndsWithASentenceAtATaskThatIsNone) {
  auto writer = trace::Writer::create(path_, {.addresses = true, .kernel = true});
  ASSERT_TRUE(writer.ok());
  Recording recording(std::move(writer).value(), false);
  EXPECT_EXIT(recording.take_task(PerfRecord(3).word(5).done()), testing::ExitedWithCode(2),
              "pmusim-machine: what the guest's first process tells of its tasks: a record COMM of 12 bytes; "
              "expected "
              "17 at least\n$");
}

}  // namespace
}  // namespace pmusim::test
