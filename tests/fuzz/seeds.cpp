// SPDX-License-Identifier: MIT
// Writes what fuzzers of files start from, a folder for each: traces, profiles of one, PEBS buffers, texts.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "arch/pebs_generator.h"
#include "pmusim/events/parser.h"
#include "pmusim/formats/formats.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"
#include "pmusim/trace/trace.h"
#include "tests/perfdata/feature_editor.h"
#include "tests/support/fuzz_input.h"
#include "tests/support/unpacked_trace.h"
#include "tools/pebs_file.h"

namespace pmusim {
namespace {

namespace fs = std::filesystem;

/// A loop of 40 rounds over a load, a string move and a backward branch, between two system calls.
void write_trace(const std::string& path, trace::Contents contents) {
  auto writer = trace::Writer::create(path, contents);
  must(writer.ok());
  const auto add_side_band = [&](const trace::SideBandRecord& record) {
    must(writer->side_band(record).ok());
  };
  add_side_band(trace::ProcessStart{1, 1, "program", true});
  add_side_band(trace::Map{1, {0x400000, 0x1000, 0, 5, 2, "/bin/program", {1, 2, 3}}});
  add_side_band(trace::ThreadSwitch{1, 1});
  constexpr u8 loop[] = {0x48, 0x8B, 0x04, 0xCE, 0xF3, 0xA4, 0x75, 0xF8}, call[] = {0x0F, 0x05};
  constexpr u8 loop_lengths[] = {4, 2, 2}, call_lengths[] = {2};
  const trace::Block& body = writer->add_block(0x400100, std::as_bytes(std::span(loop)), loop_lengths);
  const trace::Block& end = writer->add_block(0x400108, std::as_bytes(std::span(call)), call_lengths);
  std::vector<u64> addresses(contents.addresses ? body.operands : 0);
  const std::vector<u32> rep_counts(body.reps, 3);
  std::vector<Registers> registers(contents.registers ? body.instructions.size() : 0);
  constexpr u64 rounds = 40;
  for (u64 round = 1; round <= rounds; ++round) {
    for (u64& address : addresses) address = 0x600000 + 8 * round;
    for (Registers& each : registers) each[Gpr::rcx] = round;
    const u64 next = round == rounds ? body.end() : body.start();
    trace::BlockRun run{&body, next, addresses, rep_counts, registers, nullptr, {}};
    if (contents.timing) run.cycles = static_cast<u32>(5 * round);
    must(writer->run(run).ok());
  }
  const std::span last = std::span(registers).first(std::min<std::size_t>(registers.size(), 1));
  must(writer->run({&end, end.end(), {}, {}, last, nullptr, {}}).ok());
  add_side_band(trace::Syscall{231, 0});
  add_side_band(trace::ThreadExit{1, 1, 0});
  must(writer->finish().ok());
}

/// Of several chunks, and small: as many instructions without a branch as one holds, again and again, with a
/// thread that starts between.
void write_chunks(const std::string& path) {
  constexpr u64 block_instructions = trace::max_block_instructions,
                chunk_runs = (u64{1} << 20) / block_instructions;
  auto writer = trace::Writer::create(path, {});
  must(writer.ok());
  const std::vector<std::byte> nops(block_instructions, std::byte{0x90});
  const std::vector<u8> lengths(block_instructions, 1);
  const trace::Block& body = writer->add_block(0x400100, nops, lengths);
  must(writer->side_band(trace::ProcessStart{1, 1, "program", true}).ok());
  for (u32 tid = 1; tid <= 3; ++tid) {
    must(writer->side_band(trace::ThreadStart{1, tid, 1, 1}).ok());
    must(writer->side_band(trace::ThreadSwitch{1, tid}).ok());
    for (u64 n = 0; n < chunk_runs; ++n)
      must(writer->run({&body, body.start(), {}, {}, {}, nullptr, {}}).ok());
  }
  must(writer->finish().ok());
}

void unpack(const fs::path& trace) {
  std::ifstream in(trace, std::ios::binary);
  const std::vector<char> packed{std::istreambuf_iterator<char>(in), {}};
  const std::vector<u8> bytes = trace::unpacked({reinterpret_cast<const u8*>(packed.data()), packed.size()});
  std::ofstream(trace, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_profile(const std::string& trace, RecordOptions options, std::string_view events) {
  const CpuModel model = *find_cpu_model("icelake");
  auto session = Session::open(trace, {.model = model});
  must(session.ok());
  options.events = *events::parse_events(events, model);
  options.period = 7;
  must(record(*session, options).ok());
}

void write_profiles(const fs::path& folder, const std::string& trace) {
  const auto file = [&](std::string_view name) { return (folder / name).string(); };
  write_profile(trace, {.output = file("plain")}, "cycles,{branches,instructions}:S");
  write_profile(trace,
                {.branch_sample_type = perf::branch::ANY | perf::branch::USER, .output = file("branches")},
                "branches:pp");
  write_profile(trace, {.addresses = true, .interrupt_registers = 0xFF0FFF, .output = file("registers")},
                "mem-loads:p");
  write_profile(trace, {.output = file("compressed"), .compression_level = 1}, "cycles");
}

void write_pebs_buffers(const fs::path& files, const fs::path& buffers) {
  for (const unsigned format : {0u, 1u, 2u, 3u, 4u, 6u, 15u}) {
    const auto buffer = pebs::generate_buffer(
        {.format = format,
         .records = 4,
         .groups = {.memory = true, .gprs = true, .lbr_entries = format == 15 ? 8u : 2u}});
    must(tools::write_pebs_file((files / fmt::format("format{}", format)).string(), buffer).ok());
    std::ofstream out(buffers / fmt::format("format{}", format), std::ios::binary);
    out.put(static_cast<char>(format == 15 ? 7 : format));
    out.write(reinterpret_cast<const char*>(buffer.bytes.data()),
              static_cast<std::streamsize>(buffer.bytes.size()));
  }
}

/// In the format of this number, behind that.
void write_other_trace(const fs::path& file, std::size_t format, const std::string& trace) {
  const std::string plain = file.string() + ".plain";
  must(formats::export_trace({formats::all_formats()[format].format, trace, plain}).ok());
  std::ofstream out(file, std::ios::binary);
  out.put(static_cast<char>(format));
  out << std::ifstream(plain, std::ios::binary).rdbuf();
  fs::remove(plain);
}

void write_other_traces(const fs::path& folder, const std::string& trace, const std::string& timed_trace) {
  for (std::size_t n = 0; n < formats::all_formats().size(); ++n) {
    const formats::FormatInfo& info = formats::all_formats()[n];
    write_other_trace(folder / info.name, n, trace);
    if (info.format == formats::Format::pt) write_other_trace(folder / "pt-timed", n, timed_trace);
  }
}

/// Of a trace's only thread.
void write_pt_packets(const fs::path& packets, const std::string& trace) {
  const std::string file = packets.string() + ".perf.data";
  must(formats::export_trace({.format = formats::Format::pt, .input = trace, .output = file}).ok());
  auto reader = perfdata::Reader::open(file);
  must(reader.ok());
  for (auto record = reader->next(); record.ok() && *record; record = reader->next()) {
    const auto aux = (*record)->aux;
    if (!aux.empty())
      std::ofstream(packets, std::ios::binary)
          .write(reinterpret_cast<const char*>(aux.data()), static_cast<std::streamsize>(aux.size()));
  }
  fs::remove(file);
}

void write_text(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Behind whether it is the short form, and a list of CPUs with its length.
void write_machines(const fs::path& folder) {
  using namespace std::string_view_literals;
  write_text(folder / "short",
             "\x01\x05"
             "0,2-3alderlake:8p16t8e"sv);
  write_text(folder / "lines",
             "\x00\x03"
             "0-1cpu 0 package 1 die 2 core 3 thread 0 model skylake\n"
             "# off\ncpu 1 package 1 die 2 core 3 thread 1 model skylake offline\n"sv);
}

/// Each feature of a profile: its number less one, its length in two bytes, its payload.
void write_features(const fs::path& file, const fs::path& profile) {
  std::ifstream in(profile, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(chars));
  const perfdata::FeatureEditor editor({bytes.begin(), bytes.end()});
  std::ofstream out(file, std::ios::binary);
  for (const unsigned number : editor.features()) {
    const std::vector<std::byte> payload = editor.payload(number);
    for (const std::size_t byte : {std::size_t{number - 1}, payload.size() & 0xFF, payload.size() >> 8})
      out.put(static_cast<char>(byte));
    out.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
  }
}

/// Counts behind a 1, the file of a sweep behind a 0.
void write_json_files(const fs::path& folder) {
  using namespace std::string_view_literals;
  write_text(
      folder / "stat",
      "\x01{\"trace\": \"t\", \"model\": \"icelake\", \"events\": [{\"event\": \"cycles\", \"value\": 7,"
      " \"runs\": [7, 7.5]}, {\"event\": \"x\", \"value\": null}]}"sv);
  write_text(folder / "sweep",
             "\x00{\"traces\": [\"one.pmutrace\"], \"models\": [\"icelake\", \"skylake\"], \"events\":"
             " {\"a\": \"{cycles,branches}:u\"}, \"metrics\": [\"insn_per_cycle\"], \"core\": \"simple\","
             " \"start\": \"warm\", \"core_sets\": {\"large\": \"L2=4MiB\"}}"sv);
}

}  // namespace
}  // namespace pmusim

int main(int count, char** arguments) {
  using namespace pmusim;
  if (count != 2) return 2;
  const fs::path folder = arguments[1];
  for (const char* each :
       {"trace_reader", "perfdata_reader", "annotate_report", "formats_import", "formats_pt_packets",
        "tools_pebs_file", "driver_pebs_demux", "cpu_machine_text", "perfdata_features", "tools_json_files"})
    fs::create_directories(folder / each);
  const std::string with_registers = (folder / "trace_reader" / "registers").string(),
                    timed = (folder / "trace_reader" / "timing").string();
  write_trace((folder / "trace_reader" / "plain").string(), {});
  write_trace((folder / "trace_reader" / "addresses").string(), {.addresses = true});
  write_trace(with_registers, {.addresses = true, .registers = true});
  write_trace(timed, {.timing = true});
  write_chunks((folder / "trace_reader" / "chunks").string());
  write_profiles(folder / "perfdata_reader", with_registers);
  write_profiles(folder / "annotate_report", with_registers);
  write_features(folder / "perfdata_features" / "plain", folder / "perfdata_reader" / "plain");
  write_machines(folder / "cpu_machine_text");
  write_json_files(folder / "tools_json_files");
  write_other_traces(folder / "formats_import", with_registers, timed);
  write_pt_packets(folder / "formats_pt_packets" / "packets", with_registers);
  write_pt_packets(folder / "formats_pt_packets" / "timed", timed);
  write_pebs_buffers(folder / "tools_pebs_file", folder / "driver_pebs_demux");
  for (const fs::directory_entry& file : fs::directory_iterator(folder / "trace_reader")) unpack(file.path());
  return 0;
}
