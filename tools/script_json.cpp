// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "pmusim/perfdata/reader.h"
#include "script_text.h"

/// Names are those of the fields; numbers are numbers, addresses and registers hexadecimal strings, which no
/// reader rounds.
namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;
using perf::RegisterSide;

std::string hex_word(u64 value) { return fmt::format("{:#x}", value); }

std::string hex_words(const std::vector<u64>& words) {
  if (words.size() == 1) return hex_word(words.front());
  std::string text = "0x";
  for (auto word = words.rbegin(); word != words.rend(); ++word) text += fmt::format("{:016x}", *word);
  return text;
}

Json registers_of(const std::vector<perfdata::NamedRegister>& registers) {
  Json all = Json::object();
  for (const perfdata::NamedRegister& r : registers) {
    // The two halves of an XMM register have one name: low, high.
    if (const auto before = all.find(r.name); before != all.end())
      *before = Json::array({*before, hex_words(r.words)});
    else
      all[r.name] = hex_words(r.words);
  }
  return all;
}

/// null where nothing was recorded of a branch's prediction.
Json prediction(const perf::BranchEntry& entry, u64 flag) {
  return entry.mispred == 0 && entry.predicted == 0 ? Json() : Json(flag != 0);
}

Json branches_of(const std::vector<perf::BranchEntry>& branches) {
  Json all = Json::array();
  for (const perf::BranchEntry& e : branches)
    all.push_back({{"from", hex_word(e.from)},
                   {"to", hex_word(e.to)},
                   {"mispredicted", prediction(e, e.mispred)},
                   {"predicted", prediction(e, e.predicted)},
                   {"in_tx", e.in_tx != 0},
                   {"abort", e.abort != 0},
                   {"cycles", static_cast<u64>(e.cycles)},
                   {"type", static_cast<u64>(e.type)},
                   {"spec", static_cast<u64>(e.spec)}});
  return all;
}

Json speculation_of(const std::vector<perf::BranchEntry>& branches) {
  Json all = Json::array();
  for (const perf::BranchEntry& e : branches) all.push_back(static_cast<u64>(e.spec));
  return all;
}

Json words_of(const std::vector<u64>& words) {
  Json all = Json::array();
  for (const u64 word : words) all.push_back(hex_word(word));
  return all;
}

void add_who(Json& object, const ScriptLine& line) {
  const perfdata::SampleRecord& s = line.of.sample;
  const auto shows = [&](Field field) { return line.fields.has(field); };
  if (shows(Field::comm)) object["comm"] = line.processes.command_of(s.who.tid);
  if (shows(Field::pid)) object["pid"] = static_cast<i32>(s.who.pid);
  if (shows(Field::tid)) object["tid"] = static_cast<i32>(s.who.tid);
  if (shows(Field::cpu)) object["cpu"] = s.who.cpu;
  if (shows(Field::time)) object["time"] = s.who.time;
  if (shows(Field::period)) object["period"] = s.period;
  if (shows(Field::event)) object["event"] = line.of.event.name;
  if (shows(Field::id)) object["id"] = s.who.id;
}

void add_access(Json& object, const ScriptLine& line) {
  const perfdata::SampleRecord& s = line.of.sample;
  const auto shows = [&](Field field) { return line.fields.has(field); };
  const Weights weights = weights_of(line.of);
  if (shows(Field::addr)) object["addr"] = hex_word(s.address);
  if (shows(Field::data_src))
    object["data_src"] = {{"value", hex_word(s.data_source)}, {"text", data_source_text(s.data_source)}};
  if (shows(Field::weight)) object["weight"] = weights.weight;
  if (shows(Field::ins_lat)) object["ins_lat"] = weights.instruction_latency;
  if (shows(Field::retire_lat)) object["retire_lat"] = weights.retire_latency;
  if (shows(Field::transaction)) object["transaction"] = hex_word(s.transaction);
}

void add_place(Json& object, const ScriptLine& line) {
  const perfdata::SampleRecord& s = line.of.sample;
  if (line.fields.has(Field::ip)) {
    object["ip"] = hex_word(s.ip);
    std::vector<u64> chain;
    for (const ChainEntry& place : call_chain(line.of)) chain.push_back(place.address);
    if (!chain.empty()) object["callchain"] = words_of(chain);
  }
  if (!line.fields.has(Field::dso)) return;
  const std::string file = file_of(line, {s.ip, perf::cpu_mode(s.misc)});
  object["dso"] = file.empty() ? Json(nullptr) : Json(file);
}

struct SideFields {
  Field general, simd;
  RegisterSide side;
};

void add_registers(Json& object, const ScriptLine& line, const SideFields& fields,
                   const perfdata::RegisterBlock& block) {
  const perf::Attr& attr = line.of.event.attr;
  const auto add = [&](Field field, auto registers) {
    if (!line.fields.has(field)) return;
    Json& shown = object[std::string(field_rows()[static_cast<std::size_t>(field)].name)];
    shown = block.abi == 0 ? Json(nullptr) : registers_of(registers(block, attr, fields.side));
  };
  add(fields.general, perfdata::general_registers);
  add(fields.simd, perfdata::simd_registers);
}

}  // namespace

std::string json_of(const ScriptLine& line) {
  const perfdata::SampleRecord& s = line.of.sample;
  const auto shows = [&](Field field) { return line.fields.has(field); };
  Json object = Json::object();
  add_who(object, line);
  add_access(object, line);
  add_place(object, line);
  add_registers(object, line, {Field::iregs, Field::isimd, RegisterSide::interrupt}, s.interrupt_registers);
  add_registers(object, line, {Field::uregs, Field::usimd, RegisterSide::user}, s.user_registers);
  if (shows(Field::brstack)) object["brstack"] = branches_of(s.branches);
  if (shows(Field::brspec) && !shows(Field::brstack)) object["brspec"] = speculation_of(s.branches);
  if (shows(Field::brcntr)) object["brcntr"] = words_of(s.branch_counters);
  if (shows(Field::phys_addr)) object["phys_addr"] = hex_word(s.physical_address);
  if (shows(Field::data_page_size)) object["data_page_size"] = s.data_page_size;
  if (shows(Field::code_page_size)) object["code_page_size"] = s.code_page_size;
  // Names of programs may be no UTF-8.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pmusim::tools
