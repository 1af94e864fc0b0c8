// Replays a recorded program on an emulated Skylake, counts its branches and prints where every 1000th
// mispredicted one was. Usage: replay TRACE
#include <cstdio>
#include <cstring>

#include "pmusim/events/parser.h"
#include "pmusim/perf/ring_reader.h"
#include "pmusim/session/session.h"

int main(int argc, char** argv) {
  using namespace pmusim;
  const CpuModel skylake = *find_cpu_model("skylake");
  auto session = Session::open(argc > 1 ? argv[1] : "trace.pmutrace", {.model = skylake});
  if (!session.ok()) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 2;
  perf::PerfCore& perf = session->perf();

  perf::Attr count = events::parse_events("branches:u", skylake)->front().events.front().attr;
  perf::Attr sample = events::parse_events("branch-misses:upp", skylake)->front().events.front().attr;
  sample.sample_period = 1000;
  sample.sample_type = perf::sample::IP;
  perf::Event* const branches = *session->open_event(count);
  perf::RingBuffer* const ring = *perf.mmap(**session->open_event(sample), 64);

  if (const auto replayed = session->run(); !replayed.ok()) return 2;

  std::printf("%llu branches; mispredicted ones at\n",
              static_cast<unsigned long long>(perf.read(*branches)->front()));
  perf::RingReader(*ring).drain([](std::span<const std::byte> records) {
    for (perf::RecordHeader header; records.size() >= sizeof header; records = records.subspan(header.size)) {
      std::memcpy(&header, records.data(), sizeof header);
      unsigned long long ip = 0;
      std::memcpy(&ip, &records[sizeof header], sizeof ip);
      if (header.type == static_cast<u32>(perf::RecordType::sample)) std::printf("  %#llx\n", ip);
    }
  });
}
