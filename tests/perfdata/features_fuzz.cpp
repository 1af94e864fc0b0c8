// SPDX-License-Identifier: MIT
// Any bytes as what the features of a perf.data file say: offsets and sizes around them are right, and a file
// and a stream with the same features say the same of the machine and the run.
#include <cstring>
#include <map>
#include <vector>

#include "perfdata/features.h"
#include "perfdata/file_format.h"
#include "perfdata/payload.h"
#include "pmusim/perfdata/reader.h"
#include "tests/support/fuzz_input.h"

namespace pmusim::perfdata {
namespace {

using Payloads = std::map<unsigned, Payload>;  // by the number of their feature

constexpr std::array<u64, 2> event_ids{7, 8};
constexpr std::size_t most_bytes = 4096;  // of a feature

std::vector<std::byte> joined(std::initializer_list<const Payload*> parts) {
  std::vector<std::byte> bytes;
  for (const Payload* const part : parts)
    bytes.insert(bytes.end(), part->bytes().begin(), part->bytes().end());
  return bytes;
}

Payload image_of_event() {
  perf::Attr attr;
  attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP;
  return attr_image(attr, {});
}

void put_record(Payload& to, UserRecord type, const Payload& payload) {
  to.put(perf::RecordHeader{static_cast<u32>(type), 0,
                            static_cast<u16>(sizeof(perf::RecordHeader) + payload.size())});
  to.put_bytes(payload.bytes());
}

std::vector<std::byte> file_with(const Payloads& features) {
  const Payload image = image_of_event();
  Payload ids, attrs, data, table, payloads;
  for (const u64 id : event_ids) {
    attrs.put_bytes(image.bytes());
    attrs.put(Section{sizeof(FileHeader) + ids.size(), sizeof id});
    ids.put(id);
  }
  put_record(data, UserRecord::finished_round, {});
  FileHeader header;
  header.attr_size = image.size() + sizeof(Section);
  header.attrs = {sizeof header + ids.size(), attrs.size()};
  header.data = {header.attrs.offset + attrs.size(), data.size()};
  const u64 begin = header.data.offset + data.size() + features.size() * sizeof(Section);
  for (const auto& [number, payload] : features) {
    header.features[0] |= bit(number);
    table.put(Section{begin + payloads.size(), payload.size()});
    payloads.put_bytes(payload.bytes());
  }
  Payload start;
  start.put(header);
  return joined({&start, &ids, &attrs, &data, &table, &payloads});
}

std::vector<std::byte> stream_with(const Payloads& features) {
  Payload stream;
  stream.put(PipeHeader{});
  for (const u64 id : event_ids) {
    Payload event = image_of_event();
    event.put(id);
    put_record(stream, UserRecord::header_attr, event);
  }
  for (const auto& [number, payload] : features) {
    Payload feature;
    feature.put(u64{number});
    feature.put_bytes(payload.bytes());
    put_record(stream, UserRecord::header_feature, feature);
  }
  put_record(stream, UserRecord::finished_round, {});
  return joined({&stream});
}

bool say_the_same(const Reader& a, const Reader& b) {
  const auto names_of = [](const Reader& reader) {
    std::vector<std::string> names;
    for (const EventDescription& event : reader.events()) names.push_back(event.name);
    return names;
  };
  return a.metadata() == b.metadata() && a.groups() == b.groups() && a.build_ids() == b.build_ids() &&
         a.sample_times() == b.sample_times() && names_of(a) == names_of(b);
}

}  // namespace
}  // namespace pmusim::perfdata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  using namespace pmusim::perfdata;
  Payloads features;
  for (FuzzInput input(data, size); !input.empty();) {
    const auto number = static_cast<unsigned>(1 + input.below(last_feature_marker - 1));
    Payload payload;
    const std::size_t bytes = input.below(most_bytes);
    payload.put_bytes(std::as_bytes(input.bytes(bytes)));
    payload.put_zeros((8 - payload.size() % 8) % 8);  // as records are long
    features.insert_or_assign(number, std::move(payload));
  }
  auto file = Reader::from_memory("file", file_with(features)),
       stream = Reader::from_memory("stream", stream_with(features));
  must(stream.ok());
  if (!file.ok()) {  // a directory's format alone is an error, which a stream does not have
    must(features.contains(static_cast<unsigned>(Feature::directory_format)));
    return 0;
  }
  must(say_the_same(*file, *stream));
  for (Reader* const reader : {&*file, &*stream}) {
    must((*reader->next())->header.type == static_cast<u32>(UserRecord::finished_round));
    must(!reader->next()->has_value());
    static_cast<void>(reader->warnings());
  }
  return 0;
}
