// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_FILE_SINK_H
#define PMUSIM_SRC_SESSION_FILE_SINK_H

#include <set>
#include <string>

#include "perf/records.h"
#include "perfdata/writer.h"
#include "pmusim/trace/trace.h"
#include "session/record_sink.h"

namespace pmusim {

/// The records as a perf.data file.
class FileSink final : public RecordSink {
 public:
  FileSink(perfdata::Writer& writer, const RecordOptions& options) : writer_(writer), options_(options) {}

  void add_group(u32 leader, u32 members) override { writer_.add_group("{anon_group}", leader, members); }
  Result<Done, Error> add_event(const perf::Attr& attr, const std::string& name,
                                std::span<const u64> ids) override {
    samples_kernel_ = samples_kernel_ || attr.exclude_kernel == 0;
    nobody_.attr = attr;
    return writer_.add_event(attr, name, ids);
  }
  Result<Done, Error> add_mapping(const trace::Mapping& mapping) override {
    if (is_kernel_text(mapping)) return samples_kernel_ ? map_kernel(mapping) : Done{};
    if (options_.build_ids && !mapping.build_id.empty() && identified_.insert(mapping.path).second)
      writer_.add_build_id(mapping.path, std::as_bytes(std::span(mapping.build_id)));
    return Done{};
  }
  Result<Done, Error> write(std::span<const std::byte> records) override { return writer_.write(records); }
  Result<Done, Error> end_round() override { return writer_.end_round(); }
  u64 record_bytes() const override { return writer_.record_bytes(); }

 private:
  static bool is_kernel_text(const trace::Mapping& mapping) {
    return mapping.path.starts_with("[kernel.kallsyms]");
  }
  Result<Done, Error> map_kernel(const trace::Mapping& text) {
    const perf::MmapRecord record{.pid = trace::kernel_pid,
                                  .address = text.start,
                                  .length = text.bytes,
                                  .page_offset = text.file_offset,
                                  .name = text.path,
                                  .misc = perf::misc::KERNEL};
    if (options_.build_ids && !text.build_id.empty())
      writer_.add_build_id("[kernel.kallsyms]", std::as_bytes(std::span(text.build_id)),
                           perfdata::Space::kernel);
    return writer_.write(perf::encode_record(record, nobody_, {}));
  }

  perfdata::Writer& writer_;
  const RecordOptions& options_;
  std::set<std::string> identified_;
  bool samples_kernel_ = false;
  perf::Event nobody_;  // of which records are that perf itself writes: like the others, and no number
};

}  // namespace pmusim

#endif
