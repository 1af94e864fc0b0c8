// SPDX-License-Identifier: MIT
// Runs of samples that are copied from records into rings, raced against the path that makes each sample on
// its own: ring for ring the same bytes.
#include "driver/intel/samples/run_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "arch/pebs_generator.h"
#include "driver/intel/lbr/lbr.h"
#include "driver/intel/samples/pebs_sample.h"
#include "fake_bus.h"
#include "perf/sample_template.h"
#include "pmusim/arch/debug_store.h"
#include "tests/support/pebs_cpu.h"

namespace pmusim::driver::run_writer_test {
namespace {

namespace sample = perf::sample;

using Random = std::mt19937_64;

/// One of `values`.
template <class T, std::size_t N>
T one_of(Random& random, const T (&values)[N]) {
  return values[random() % N];
}

/// Some of the bits of `mask`.
u64 some_of(Random& random, u64 mask) { return random() & mask; }

Enumeration cpu_with(unsigned format, Random& random) {
  using enum Microarchitecture;
  Enumeration cpu = pebs_cpu(format);
  cpu.microarchitecture = pebs::is_architectural(format) ? one_of(random, {panther_cove, arctic_wolf})
                          : pebs::is_adaptive(format)
                              ? one_of(random, {ice_lake, golden_cove, gracemont, crestmont, lion_cove})
                          : format == 3 ? one_of(random, {skylake, goldmont_plus})
                                        : one_of(random, {nehalem, sandy_bridge, haswell});
  cpu.perf_capabilities |= some_of(random, msr::perf_cap::PEBS_TRAP | msr::perf_cap::PEBS_TIMING_INFO);
  return cpu;
}

constexpr u64 copied_types = sample::IP | sample::TID | sample::TIME | sample::ADDR | sample::ID |
                             sample::CPU | sample::PERIOD | sample::STREAM_ID | sample::WEIGHT |
                             sample::DATA_SRC | sample::IDENTIFIER | sample::TRANSACTION | sample::PHYS_ADDR |
                             sample::REGS_INTR | sample::BRANCH_STACK;
constexpr u64 other_types = sample::CALLCHAIN | sample::CGROUP | sample::REGS_USER | sample::CODE_PAGE_SIZE;

perf::Attr random_attr(Random& random) {
  perf::Attr attr;
  attr.sample_type = some_of(random, copied_types);
  if (random() % 8 == 0) attr.sample_type |= some_of(random, other_types);
  if ((attr.sample_type & sample::WEIGHT) == 0 && random() % 2 == 0)
    attr.sample_type |= sample::WEIGHT_STRUCT;
  constexpr u64 xmm = perf::register_mask::XMM_HALVES;
  attr.sample_regs_intr = one_of(random, {u64{0xFF0FFF}, u64{0xFF03FF}, 0xFF0FFF | xmm, 0xFF03FF | xmm,
                                          u64{0xFF07FF}, u64{0xFF0FFF} | bit(40), u64{0x1FF}, xmm});
  attr.sample_regs_user = 0xFF0FFF;
  attr.branch_sample_type = one_of(random, {perf::branch::PLM_ALL, perf::branch::USER}) | perf::branch::ANY |
                            some_of(random, perf::branch::HW_INDEX);
  if (random() % 8 == 0) attr.branch_sample_type |= perf::branch::TYPE_SAVE;
  attr.precise_ip = (1 + random() % 3) & 3;
  attr.use_clockid = random() % 4 == 0;
  attr.wakeup_events = random() % 8 == 0 ? 3 : 0;
  return attr;
}

constexpr u32 memory_kinds[] = {0,
                                pebs_flag::LOAD_LATENCY,
                                pebs_flag::STORE_LATENCY,
                                pebs_flag::PRECISE_STORE,
                                pebs_flag::MEMORY_LOAD,
                                pebs_flag::MEMORY_STORE};

/// The least of a driver and a perf core: events, and rings that two or more of them may share.
class Machine final : public PebsHost, public perf::SampleSink {
 public:
  enum class Path : u8 { each_sample, runs };

  Machine(const Enumeration& cpu, unsigned events, std::size_t pages, Random random, Path path)
      : lbr_(access_, cpu), builder_(cpu, *this), runs_(cpu), path_(path), events_(events) {
    for (unsigned i = 0; i < events; ++i) {
      perf::Event& event = events_[i];
      event.id = 100 + i;
      event.leader = &event;
      event.attr = random_attr(random);
      event.layout = perf::make_sample_layout(event.attr);
      event.layout.branch_entries_limit = one_of(random, {u16{0}, u16{4}, u16{127}});
      event.hw.last_period = random() % 1000;
      data_of(event).flags = pebs_flag::PRECISE | one_of(random, memory_kinds) | register_flag(event.attr);
      if (random() % 4 != 0) data_of(event).flags |= pebs_flag::LARGE;
      if ((event.attr.sample_type & sample::BRANCH_STACK) != 0 && lbr_.init(event).ok()) lbr_.add(event);
      const bool own_ring = i == 0 || random() % 4 == 0;
      event.ring = own_ring ? std::make_shared<perf::RingBuffer>(pages, perf::RingBuffer::Options{})
                            : events_[i - 1].ring;
      owners_[i] = &event;
    }
    frame_.cpl = random() % 2 == 0 ? Cpl::user : Cpl::kernel;
    for (u64& gpr : frame_.registers.gpr) gpr = random();
  }

  DemuxTotals drain(std::vector<std::byte> buffer, const DemuxSetup& setup) {
    const DemuxTotals totals = path_ == Path::runs ? demultiplexer_.run(buffer, setup, Runs{*this})
                                                   : demultiplexer_.run(buffer, setup, EachSample{*this});
    return totals;
  }
  u64 copied() const { return copied_; }
  const std::vector<perf::Event>& events() const { return events_; }
  /// The reader takes all there is.
  void read_rings() {
    for (perf::Event& event : events_) event.ring->control().data_tail = event.ring->control().data_head;
  }

 private:
  struct EachSample {
    Machine& machine;
    void sample(unsigned counter, std::span<const std::byte> record, Place) {
      machine.deliver(counter, record);
    }
    void lost(unsigned, u64) {}
    bool begins(unsigned, u64) { return true; }
    void finished(unsigned, u64) {}
  };
  struct Runs : EachSample {
    void run(std::span<const std::byte> buffer, std::span<const RecordPlace> places) {
      machine.runs_.begin(machine, machine.owners_, machine.frame_);
      for (std::size_t done = 0; done < places.size(); ++done) {
        const std::size_t copied = machine.runs_.write(buffer, places.subspan(done));
        machine.copied_ += copied;
        if ((done += copied) == places.size()) return;
        machine.deliver(places[done].counter(), Demultiplexer::record_at(buffer, places[done]));
      }
    }
  };
  void deliver(unsigned counter, std::span<const std::byte> record) {
    output(events_[counter], builder_.build(events_[counter], record, frame_), frame_);
  }

  // PebsHost
  perf::SampleSink& sink() override { return *this; }
  Interval update_and_restart(perf::Event&) override { return Interval::over; }
  void restart(perf::Event&) override {}
  void stop(perf::Event&) override {}
  const perf::BranchStack* interrupt_branches(const perf::Event&) override { return nullptr; }
  static RecordAge age(const perf::Event& event) {
    return has_flag(event, pebs_flag::LARGE) ? RecordAge::unknown : RecordAge::now;
  }
  const perf::BranchStack& decode_branches(const perf::Event& event,
                                           std::span<const pebs::LbrRecord> entries) override {
    return lbr_.decode_records(event, entries, age(event), *this);
  }
  PlainBranches plain_branches(const perf::Event& event) const override {
    return lbr_.plain_branches(event, age(event));
  }
  // SampleSink
  Verdict overflow(perf::Event&, const perf::SampleData&, const InterruptFrame&) override {
    return Verdict::keep;
  }
  void output(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    perf::SampleEnvironment environment;
    environment.moment = moment_;
    perf::output_sample(*event.ring, event, data, frame, environment);
  }
  std::optional<perf::SampleTemplate> sample_template(const perf::Event& event,
                                                      const InterruptFrame& frame) const override {
    if (!perf::has_sample_template(event)) return std::nullopt;
    perf::SampleTemplate made = perf::make_sample_template(event, moment_, frame);
    made.ring = event.ring.get();
    made.clock = clock_;
    return made;
  }
  void lost_samples(perf::Event&, u64) override {}
  Verdict account_interrupt(perf::Event&) override { return Verdict::keep; }
  u64 time_of_tsc(u64 tsc) const override { return clock_(tsc); }
  u64 now() const override { return moment_.time; }
  std::vector<std::byte> read_code(u64, std::size_t) const override { return {}; }

  FakeBus bus_;
  RegisterAccess access_{bus_};
  LbrDriver lbr_;
  PebsSampleBuilder builder_;
  RunWriter runs_;
  Path path_;
  Demultiplexer demultiplexer_;
  std::vector<perf::Event> events_;
  EventMap owners_{};
  InterruptFrame frame_;
  perf::Moment moment_{.pid = 7, .tid = 8, .cpu = 3, .time = 123456789};
  perf::TscToNs clock_{.mult = 1398101, .shift = 22, .zero = 5};
  u64 copied_ = 0;
};

constexpr unsigned formats[] = {1, 2, 3, 4, 5, 6, 15};

/// Kernel code, aborted transactions, odd layouts, cut branch stacks: any word may be anything.
void disturb(std::vector<std::byte>& bytes, Random& random) {
  for (u64 n = random() % 200; n != 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    bytes[at] = random() % 4 == 0 ? std::byte{0} : static_cast<std::byte>(random());
  }
}

/// Where the rings of two machines differ; nothing if they do not.
std::string difference(const Machine& a, const Machine& b) {
  for (std::size_t i = 0; i < a.events().size(); ++i) {
    const perf::RingBuffer &left = *a.events()[i].ring, &right = *b.events()[i].ring;
    if (left.control().data_head != right.control().data_head) return "head of ring " + std::to_string(i);
    const auto [at, other] = std::ranges::mismatch(left.data(), right.data());
    if (at != left.data().end())
      return "ring " + std::to_string(i) + " at " + std::to_string(at - left.data().begin());
    if (a.events()[i].lost_samples != b.events()[i].lost_samples) return "losses of " + std::to_string(i);
  }
  return {};
}

/// Samples that were copied, by format of the records; those of machines whose events all have branches
/// apart.
struct Copied {
  std::map<unsigned, u64> all, with_branches;
};

/// One machine's rings on either path, after a few drains.
void race(u64 seed, Copied& copied) {
  Random random(seed);
  const unsigned format = one_of(random, formats);
  const Enumeration cpu = cpu_with(format, random);
  const auto events = static_cast<unsigned>(1 + random() % 6);
  const std::size_t pages = std::size_t{1} << random() % 6;
  const Random of_events(random());
  Machine each(cpu, events, pages, of_events, Machine::Path::each_sample);
  Machine runs(cpu, events, pages, of_events, Machine::Path::runs);
  const pebs::RecordGroups groups{.memory = random() % 4 != 0,
                                  .gprs = random() % 4 != 0,
                                  .xmm = random() % 2 == 0,
                                  .lbr_entries = one_of(random, {0u, 8u, 16u, 32u})};
  const DrainOrder order = one_of(random, {DrainOrder::grouped, DrainOrder::record});
  for (u64 drain = 0; drain < 3; ++drain) {
    pebs::GeneratedBuffer buffer =
        pebs::generate_buffer({.format = format,
                               .events = events,
                               .records = random() % 200,
                               .collisions_permille = events > 1 ? one_of(random, {0u, 3u, 250u, 985u}) : 0,
                               .seed = random(),
                               .groups = groups,
                               .fragment_bytes = one_of(random, {0u, 0u, 512u})});
    if (random() % 2 == 0) disturb(buffer.bytes, random);
    const DemuxSetup setup{.format = format,
                           .enabled = buffer.enabled,
                           .enable_word = buffer.enabled,
                           .record_bytes = buffer.record_bytes,
                           .order = order};
    each.drain(buffer.bytes, setup);
    runs.drain(buffer.bytes, setup);
    const std::string found = difference(each, runs);
    EXPECT_EQ(found, "") << "seed " << seed << ", format " << format << ", drain " << drain;
    if (!found.empty()) return;
    if (random() % 2 == 0) each.read_rings(), runs.read_rings();
  }
  copied.all[format] += runs.copied();
  const bool all_have_branches = std::ranges::all_of(runs.events(), [](const perf::Event& event) {
    return (event.attr.sample_type & sample::BRANCH_STACK) != 0;
  });
  if (all_have_branches) copied.with_branches[format] += runs.copied();
}

TEST(RunWriter, CopiesTheBytesThatEachSampleAloneHas) {
  Copied copied;
  for (u64 seed = 1; seed <= 600 && !testing::Test::HasFailure(); ++seed) race(seed, copied);
  for (const unsigned format : formats) EXPECT_GT(copied.all[format], 1000u) << format;
  for (const unsigned format : {4u, 5u, 6u, 15u})  // whose records have them
    EXPECT_GT(copied.with_branches[format], 0u) << format;
}

/// A plan for XMM registers and branches of records of architectural PEBS with these groups.
std::optional<SamplePlan> plan_for(u64 groups, std::size_t bytes) {
  Enumeration cpu;
  cpu.pebs_format = Enumeration::arch_pebs_format;
  cpu.lbr_entries = 32;
  perf::Event event;
  event.attr.precise_ip = 2;
  event.attr.sample_type = sample::IP | sample::REGS_INTR;
  event.attr.sample_regs_intr = 0xFF0FFF | perf::register_mask::XMM_HALVES;
  data_of(event).flags = pebs_flag::PRECISE | register_flag(event.attr);
  event.layout = perf::make_sample_layout(event.attr);
  std::vector<std::byte> record(bytes);
  const le64 word = groups | pebs::header::BASIC | pebs::header::MODE_64 | pebs::cfg_c::GPRS | bytes;
  std::memcpy(record.data(), &word, sizeof word);
  return SamplePlanner(cpu).plan(event, perf::make_sample_template(event, {}, {}), record, {});
}

TEST(SamplePlan, XmmRegistersAreWhereTheRecordHasAllOfThem) {
  using namespace pebs::cfg_c;
  const pebs::ArchLayout layout = pebs::arch_layout(pebs::header::BASIC | GPRS | XMM, 32);
  const auto whole = plan_for(XMM, layout.size), cut = plan_for(XMM, layout.size - 16);
  ASSERT_TRUE(whole && cut);
  EXPECT_EQ(whole->record.xmm, layout.vectors + sizeof(pebs::ArchVectorHeader));
  EXPECT_EQ(cut->record.xmm, 0u);
  const auto others = plan_for(ZMMH, pebs::arch_layout(pebs::header::BASIC | GPRS | ZMMH, 32).size);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->record.xmm, 0u) << "there are other vectors";
}

TEST(DataSourceTable, SaysOfEveryWordWhatTheReaderSays) {
  using enum DataSourceEncoding;
  for (const DataSourceEncoding encoding : {none, nehalem, westmere, sandy_bridge, skylake, golden_cove,
                                            gracemont, crestmont, lion_cove, panther_cove, arctic_wolf})
    for (const bool persistent : {false, true}) {
      const DataSourceReader reader{.encoding = encoding, .persistent_memory = persistent};
      const DataSourceTable loads(data_source_layout(encoding), [&](u64 word) { return reader.load(word); });
      const DataSourceTable stores(data_source_layout(encoding),
                                   [&](u64 word) { return reader.store(word); });
      for (u64 word = 0; word < 1u << 16; ++word) {
        ASSERT_EQ(loads[word], reader.load(word)) << static_cast<unsigned>(encoding) << ' ' << word;
        ASSERT_EQ(stores[word], reader.store(word)) << static_cast<unsigned>(encoding) << ' ' << word;
      }
    }
}

}  // namespace
}  // namespace pmusim::driver::run_writer_test
