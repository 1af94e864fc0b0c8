#include "pmusim/trace/recorder.h"

#include <sched.h>

#include "trace/recording.h"

namespace pmusim::trace {
namespace {

/// Keeps this process, and what it starts, on the CPU that it is on: a wake-up across CPUs costs more than
/// a whole step.
class OneCpu {
 public:
  OneCpu() {
    known_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() {
    if (known_) ::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool known_ = false;
};

}  // namespace

Result<RecordSummary, Error> record(const std::vector<std::string>& command, const RecordOptions& options) {
  if (command.empty()) return Failure(Error("no program to record"));
  const Contents contents{.addresses = true, .registers = options.registers == RecordedRegisters::gpr};
  auto writer = Writer::create(options.output, contents);
  if (!writer.ok()) return Failure(writer.error());
  const OneCpu pinned;
  const auto pid = start_traced(command);
  if (!pid.ok()) return Failure(pid.error());

  Recording recording(*writer, contents, options);
  auto summary = recording.run(*pid);
  if (!summary.ok()) return summary;
  const auto written = writer->finish();
  if (!written.ok()) return Failure(written.error());
  summary->file_bytes = written->file_bytes;
  return summary;
}

}  // namespace pmusim::trace
