// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "perf/simd_abi.h"
#include "perfdata/payload.h"
#include "pmusim/perfdata/reader.h"
#include "tests/perfdata/file_fixture.h"

namespace pmusim::perfdata {
namespace {

using testing::ElementsAre;

class SamplesTest : public FileTest {
 protected:
  SamplesTest() : event_(sampled_event()) {}

  Writer& writer() {
    if (!writer_) {
      auto created = Writer::create(path(), {});
      EXPECT_TRUE(created && created->add_event(event_.attr, "event", {&event_.id, 1}));
      writer_.emplace(std::move(*created));
    }
    return *writer_;
  }
  void write_sample(u64 time) { EXPECT_TRUE(writer().write(sample_at(time, event_))); }
  template <class Record>
  void write(const Record& record, u64 time) {
    EXPECT_TRUE(writer().write(perf::encode_record(record, event_, {100, 101, 0, time})));
  }
  SampleReader read() {
    EXPECT_TRUE(writer().finish());
    auto samples = SampleReader::open(path());
    EXPECT_TRUE(samples);
    return std::move(*samples);
  }
  static std::vector<u64> times(SampleReader& samples) {
    std::vector<u64> all;
    while (auto next = samples.next()) {
      if (!*next) return all;
      all.push_back((*next)->sample.who.time);
    }
    ADD_FAILURE();
    return all;
  }

  perf::Event event_;

 private:
  std::optional<Writer> writer_;
};

TEST_F(SamplesTest, ComeInTheOrderOfTheirTimes) {
  for (const u64 time : {5, 3, 4}) write_sample(time);
  EXPECT_TRUE(writer().end_round());
  for (const u64 time : {9, 6, 8}) write_sample(time);
  EXPECT_TRUE(writer().end_round());
  write_sample(7);  // younger than the round before: perf still waits for it
  auto samples = read();
  EXPECT_THAT(times(samples), ElementsAre(3, 4, 5, 6, 7, 8, 9));
}

TEST_F(SamplesTest, KnowWhatRanThen) {
  write(perf::CommRecord{100, 101, "before"}, 1);
  perf::Mmap2Record mapping{100, 101, 0x1000, 0x3000, 0x500};
  mapping.name = "/program";
  write(mapping, 2);
  write_sample(3);
  write(perf::CommRecord{100, 101, "after", perf::misc::COMM_EXEC}, 4);
  write_sample(5);
  auto samples = read();
  ASSERT_TRUE(*samples.next());
  EXPECT_EQ(samples.processes().command_of(101), "before");
  const auto* found = samples.processes().mapping_at(100, 0x3fff);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "/program");
  EXPECT_EQ(found->page_offset, 0x500u);
  EXPECT_EQ(samples.processes().mapping_at(100, 0x4000), nullptr);
  ASSERT_TRUE(*samples.next());
  EXPECT_EQ(samples.processes().command_of(101), "after");
  EXPECT_EQ(samples.processes().mapping_at(100, 0x1000), nullptr) << "an exec unmaps all";
  EXPECT_FALSE(*samples.next());
}

TEST_F(SamplesTest, AChildHasItsParentsNameAndMappings) {
  write(perf::CommRecord{100, 100, "parent"}, 1);
  perf::Mmap2Record mapping{100, 100, 0x1000, 0x1000, 0};
  mapping.name = "/program";
  write(mapping, 2);
  write(perf::TaskRecord{perf::RecordType::fork, 200, 100, 200, 100, 3}, 3);
  write_sample(4);
  auto samples = read();
  ASSERT_TRUE(*samples.next());
  EXPECT_EQ(samples.processes().command_of(200), "parent");
  EXPECT_NE(samples.processes().mapping_at(200, 0x1800), nullptr);
  EXPECT_EQ(samples.processes().command_of(300), ":300");
}

TEST_F(SamplesTest, ANewMappingCutsThoseBelowIt) {
  const auto map = [&](u64 start, u64 bytes, std::string_view name) {
    perf::Mmap2Record mapping{100, 100, start, bytes, 0};
    mapping.name = name;
    write(mapping, start);
  };
  map(0x1000, 0x4000, "/old");
  map(0x2000, 0x1000, "/new");
  write_sample(1 << 20);
  auto samples = read();
  ASSERT_TRUE(*samples.next());
  const Processes& processes = samples.processes();
  EXPECT_EQ(processes.mapping_at(100, 0x1fff)->name, "/old");
  EXPECT_EQ(processes.mapping_at(100, 0x2000)->name, "/new");
  EXPECT_EQ(processes.mapping_at(100, 0x3000)->name, "/old");
  EXPECT_EQ(processes.mapping_at(100, 0x3000)->page_offset, 0x2000u);
}

/// A file with one sample of SIMD registers, in the form of `simd`.
struct SimdFile {
  perf::Attr attr;
  std::vector<u64> xmm = std::vector<u64>(32), high = std::vector<u64>(32), opmask = std::vector<u64>(8),
                   egpr = std::vector<u64>(16);

  SimdFile() {
    for (u64 n = 0; n < 32; ++n) xmm[n] = 0x10 + n, high[n] = 0x30 + n;
    for (u64 n = 0; n < 8; ++n) opmask[n] = 0x50 + n;
    for (u64 n = 0; n < 16; ++n) egpr[n] = 0x60 + n;
    attr.sample_type = perf::sample::IP | perf::sample::REGS_INTR | perf::sample::PHYS_ADDR;
    attr.sample_simd_regs_enabled = 1;
  }

  void write(const std::filesystem::path& path, perf::SimdAbi simd) const {
    const auto bytes = [](const std::vector<u64>& words) { return std::as_bytes(std::span(words)); };
    const perf::ExtendedRegisters extended{.xmm = bytes(xmm),
                                           .ymm_high = bytes(high),
                                           .opmask = bytes(opmask),
                                           .egpr = bytes(egpr),
                                           .shadow_stack_pointer = 0x77};
    perf::Event event;
    event.attr = simd == perf::SimdAbi::series_v7 ? perf::with_shared_field(attr) : attr;
    event.layout = perf::make_sample_layout(event.attr, perf::kernel_with(simd));
    perf::SampleData data;
    data.physical_address = 0x1234;
    data.extended = &extended;
    InterruptFrame frame;
    frame.registers[Gpr::rax] = 0xa;
    const perf::Sample sample{event, data, frame, {}};
    const perf::SampleSize size = perf::sample_size(sample);
    std::vector<std::byte> record(size.bytes);
    perf::write_sample(record.data(), sample, size);
    auto writer = Writer::create(path, {.attr_bytes = 176, .simd = simd});
    const u64 id = 1;
    ASSERT_TRUE(writer && writer->add_event(event.attr, "simd", {&id, 1}));
    ASSERT_TRUE(writer->write(record) && writer->finish());
  }
};

TEST_F(SamplesTest, NameTheirRegistersInEitherFormOfSimdSampling) {
  SimdFile file;
  file.attr.sample_regs_intr = 1 | bit(24) | bit(40);
  file.attr.sample_simd_vec_reg_qwords = 4;
  file.attr.sample_simd_vec_reg_intr = 0x8001;
  file.attr.sample_simd_pred_reg_qwords = 1;
  file.attr.sample_simd_pred_reg_intr = 2;
  for (const perf::SimdAbi simd : {perf::SimdAbi::series_v7, perf::SimdAbi::merged}) {
    file.write(path(), simd);
    auto samples = SampleReader::open(path());
    ASSERT_TRUE(samples);
    const auto sample = samples->next();
    ASSERT_TRUE(sample && *sample);
    const auto& block = (*sample)->sample.interrupt_registers;
    const perf::Attr& attr = (*sample)->event.attr;
    EXPECT_THAT(
        general_registers(block, attr, perf::RegisterSide::interrupt),
        ElementsAre(NamedRegister{"AX", {0xa}}, NamedRegister{"R16", {0x60}}, NamedRegister{"SSP", {0x77}}));
    EXPECT_THAT(simd_registers(block, attr, perf::RegisterSide::interrupt),
                ElementsAre(NamedRegister{"YMM0", {0x10, 0x11, 0x30, 0x31}},
                            NamedRegister{"YMM15", {0x2e, 0x2f, 0x4e, 0x4f}}, NamedRegister{"K1", {0x51}}));
    EXPECT_EQ((*sample)->sample.physical_address, 0x1234u);
  }
}

/// The attributes of both forms are the same then: the size of the record tells.
TEST_F(SamplesTest, AreReadRightWhereTheAttributeFitsBothForms) {
  SimdFile file;
  file.attr.sample_regs_intr = bit(24) | bit(40);
  for (const perf::SimdAbi simd : {perf::SimdAbi::series_v7, perf::SimdAbi::merged}) {
    file.write(path(), simd);
    auto samples = SampleReader::open(path());
    ASSERT_TRUE(samples);
    const auto sample = samples->next();
    ASSERT_TRUE(sample && *sample);
    EXPECT_THAT((*sample)->sample.interrupt_registers.values, ElementsAre(0x60, 0x77));
    EXPECT_EQ((*sample)->sample.physical_address, 0x1234u);
  }
}

TEST_F(SamplesTest, HalvesOfXmmRegistersHaveTheNameThatPerfGivesThem) {
  RegisterBlock block;
  block.abi = 2;
  block.values = {1, 2, 3};
  perf::Attr attr;
  attr.sample_regs_user = 1 | bits(35, 34);
  EXPECT_THAT(general_registers(block, attr, perf::RegisterSide::user),
              ElementsAre(NamedRegister{"AX", {1}}, NamedRegister{"XMM1", {2}}, NamedRegister{"XMM1", {3}}));
  EXPECT_TRUE(simd_registers(block, attr, perf::RegisterSide::user).empty());
}

// perf counts them as unknown ids and goes on.
TEST_F(SamplesTest, OfNoEventOfTheFileAreLeftOutWithASentence) {
  auto file = Writer::create(path(), {});
  ASSERT_TRUE(file);
  for (const u64 id : {7, 8}) ASSERT_TRUE(file->add_event(sampled_event(id).attr, "event", {&id, 1}));
  for (const u64 id : {7, 99, 8, 98}) ASSERT_TRUE(file->write(sample_at(id, sampled_event(id))));
  ASSERT_TRUE(file->finish());
  auto samples = SampleReader::open(path());
  ASSERT_TRUE(samples);
  EXPECT_THAT(times(*samples), ElementsAre(7, 8));
  EXPECT_THAT(samples->warnings(),
              ElementsAre(testing::StartsWith("2 samples are left out: no event of the file has the id")));
}

/// perf record -e sched:sched_switch -e cpu-clock -c N: what follows the id is the event's own.
TEST_F(SamplesTest, OfAnEventThatSamplesLessThanTheFirst) {
  namespace field = perf::sample;
  for (const u64 id_field : {field::IDENTIFIER, field::ID}) {
    perf::Event more, less;
    more.id = 7;
    less.id = 8;
    less.attr.sample_type = id_field | field::TIME;
    more.attr.sample_type = less.attr.sample_type | field::STREAM_ID | field::CPU | field::PERIOD;
    auto file = Writer::create(path(), {});
    ASSERT_TRUE(file);
    for (perf::Event* event : {&more, &less}) {
      event->attr.sample_id_all = 1;
      ASSERT_TRUE(file->add_event(event->attr, event == &more ? "more" : "less", {&event->id, 1}));
    }
    for (const u64 time : {20, 10}) {
      Payload payload;
      const bool id_first = id_field == field::IDENTIFIER;
      payload.put(id_first ? less.id : time);
      payload.put(id_first ? time : less.id);
      const perf::RecordHeader header{static_cast<u32>(perf::RecordType::sample), perf::misc::USER,
                                      static_cast<u16>(sizeof header + payload.size())};
      ASSERT_TRUE(file->write(std::as_bytes(std::span(&header, 1))) && file->write(payload.bytes()));
    }
    ASSERT_TRUE(file->finish());
    auto samples = SampleReader::open(path());
    ASSERT_TRUE(samples);
    for (const u64 time : {10, 20}) {
      const auto sample = samples->next();
      ASSERT_TRUE(sample && *sample) << id_field;
      EXPECT_EQ((*sample)->event.name, "less");
      EXPECT_EQ((*sample)->sample.who.time, time);
    }
  }
}

}  // namespace
}  // namespace pmusim::perfdata
