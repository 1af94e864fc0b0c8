// SPDX-License-Identifier: MIT
#include "why/control_flow.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pmusim::why {

namespace {

constexpr u64 no_address = ~u64{0};
/// Deeper calls are counted where they are made from.
constexpr std::size_t deepest_call = 1000;
/// Frames that a return may leave at once, as after longjmp.
constexpr std::size_t most_left_frames = 256;
constexpr u64 rt_sigreturn = 15;
/// Of a jump back that leads to no loop: a tail call, or code that lies apart.
constexpr u32 most_tries = 16, blocks_to_header = 32;
constexpr u64 longest_block = trace::max_block_instructions * 15;

bool is_jump(BranchKind kind) {
  using enum BranchKind;
  return kind == conditional || kind == direct_jump || kind == indirect_jump;
}

std::optional<u32> number_of(const trace::Block& block, u64 ip) {
  const auto found = std::ranges::lower_bound(block.instructions, ip, {}, &x86::Instruction::ip);
  if (found == block.instructions.end() || found->ip != ip) return std::nullopt;
  return static_cast<u32>(found - block.instructions.begin());
}

}  // namespace

ControlFlow::ControlFlow() { begin_thread(0); }

void ControlFlow::begin_thread(u32 tid) {
  thread_ = &threads_[tid];
  drop_loops(0);
  const u64 root = static_cast<u64>(&calls_(no_caller, space_) - calls_.values().data());
  calls_.values()[root].space = space_;
  thread_->frames.assign(1,
                         {.returns_to = no_address, .serial = ++frames_entered_, .call = root, .loops = 0});
}

void ControlFlow::take(const trace::SideBandRecord& record) {
  if (const auto* const start = std::get_if<trace::ProcessStart>(&record)) begin_thread(start->tid);
  if (const auto* const start = std::get_if<trace::ThreadStart>(&record); start != nullptr) {
    // A forked child goes on where its parent is.
    const std::vector<FrameOfCall> frames = threads_[start->parent_tid].frames;
    Thread& child = threads_[start->tid];
    child = {};
    if (start->pid != start->parent_pid) child.frames = frames;
    for (FrameOfCall& frame : child.frames) {
      frame.serial = ++frames_entered_;
      frame.loops = 0;
    }
  }
  if (const auto* const change = std::get_if<trace::ThreadSwitch>(&record)) {
    thread_ = &threads_[change->tid];
    if (thread_->frames.empty()) begin_thread(change->tid);
  }
  if (const auto* const signal = std::get_if<trace::SignalDelivery>(&record)) {
    call(thread_->last_ip, no_address);
    Space& space = spaces_.size() > space_ ? spaces_[space_] : spaces_.emplace_back();
    space.handlers.push_back(signal->handler);
  }
  if (const auto* const made = std::get_if<trace::Syscall>(&record);
      made != nullptr && made->number == rt_sigreturn)
    come_back_from_signal();
}

ControlFlow::BlockFlow& ControlFlow::flow_of(const trace::Block& block) {
  if (spaces_.size() <= space_) spaces_.resize(space_ + 1);
  Space& space = spaces_[space_];
  if (space.blocks.size() <= block.id)
    space.blocks.resize(std::max<std::size_t>(block.id + 1, 2 * space.blocks.size()));
  BlockFlow& flow = space.blocks[block.id];
  if (flow.block != nullptr) return flow;
  flow.block = &block;
  space.by_start.emplace(block.start(), block.id);
  for (auto at = space.header_at.lower_bound(block.start());
       at != space.header_at.end() && at->first < block.end(); ++at)
    if (const auto instruction = number_of(block, at->first))
      flow.headers.push_back({at->second, *instruction});
  return flow;
}

std::size_t ControlFlow::count_in(u64 call, u64 ip) {
  return static_cast<std::size_t>(&stacks_(call, ip) - stacks_.values().data());
}

void ControlFlow::reach(const Place& place, u64 cycle) {
  std::vector<Active>& active = thread_->active;
  std::size_t at = thread_->frames.back().loops;
  while (at < active.size() && (active[at].header != place.header || active[at].space != space_)) ++at;
  if (at == active.size())
    return active.push_back({.space = space_,
                             .header = place.header,
                             .entered = blocks_run_,
                             .round_began = blocks_run_,
                             .trips = 1,
                             .cycle = cycle,
                             .timed = true});
  drop_loops(at + 1);
  Active& loop = active[at];
  if (std::exchange(loop.timed, true)) {
    TripCounts& counts = header_of(loop).counts;
    ++counts.rounds;
    counts.round_cycles += cycle - loop.cycle;
  }
  loop.cycle = cycle;
  loop.round_began = blocks_run_;
  ++loop.trips;
}

void ControlFlow::leave(const trace::BlockRun& run, BlockFlow& flow) {
  const x86::Instruction& last = run.block->instructions.back();
  thread_->last_ip = last.ip;
  if (is_jump(last.branch)) {
    count_edge(flow, run.next_ip);
    if (run.next_ip <= last.ip) jump_back(run.next_ip);
  } else if (is_near_call(last.branch)) {
    count_edge(flow, run.next_ip);
    if (run.next_ip != last.end()) call(last.ip, last.end());
  } else if (last.branch == BranchKind::near_return) {
    come_back(run.next_ip);
  }
}

void ControlFlow::count_edge(BlockFlow& flow, u64 target) {
  if (flow.last_edge >= flow.edges.size() || flow.edges[flow.last_edge].target != target) {
    const auto known = std::ranges::find(flow.edges, target, &Edge::target);
    flow.last_edge = static_cast<std::size_t>(known - flow.edges.begin());
    if (known == flow.edges.end()) flow.edges.push_back({target, 0});
  }
  ++flow.edges[flow.last_edge].count;
}

void ControlFlow::jump_back(u64 to) {
  Target& target = spaces_[space_].targets[to];
  if (target.header || target.tries == most_tries) return;
  ++target.tries;
  thread_->jumped = {
      .blocks_left = blocks_to_header, .space = space_, .frame = thread_->frames.back().serial, .to = to};
}

/// The first place that this call has been at is the header, whether the jump leads there or to what leads
/// there.
void ControlFlow::look_for_header(const BlockFlow& flow) {
  JumpedBack& jumped = thread_->jumped;
  if (jumped.frame != thread_->frames.back().serial || jumped.space != space_) {
    // In a function that it calls, or behind its return.
    const bool is_left = std::ranges::none_of(
        thread_->frames, [&](const FrameOfCall& frame) { return frame.serial == jumped.frame; });
    if (is_left) jumped.blocks_left = 0;
    return;
  }
  --jumped.blocks_left;
  const std::optional<Visited> visited = first_visited(flow);
  if (!visited) return;
  jumped.blocks_left = 0;
  const bool is_new = !spaces_[space_].header_at.contains(visited->ip);
  const u32 header = add_header(visited->ip);
  spaces_[space_].targets[jumped.to].header = header;
  if (!is_new) return;
  // Loops that were entered since lie in this one, and were left.
  std::vector<Active>& active = thread_->active;
  std::size_t outer = thread_->frames.back().loops;
  while (outer < active.size() && active[outer].entered < visited->last_run) ++outer;
  drop_loops(outer);
  active.push_back({.space = space_,
                    .header = header,
                    .entered = visited->last_run,
                    .round_began = visited->last_run,
                    .trips = 1,
                    .cycle = 0,
                    .timed = false});
}

/// What ran in an earlier round of a loop that goes on is no header within it.
bool ControlFlow::is_of_this_round(u64 last_run) const {
  const auto first = thread_->active.begin() + static_cast<std::ptrdiff_t>(thread_->frames.back().loops);
  return std::none_of(first, thread_->active.end(), [&](const Active& loop) {
    return last_run > loop.entered && last_run < loop.round_began;
  });
}

/// The first instruction of a block that was executed in this call, and in the round that goes on.
std::optional<ControlFlow::Visited> ControlFlow::first_visited(const BlockFlow& flow) const {
  const u64 frame = thread_->frames.back().serial, start = flow.block->start();
  std::optional<Visited> first;
  const auto& by_start = spaces_[space_].by_start;
  for (auto at = by_start.lower_bound(start - std::min(start, longest_block));
       at != by_start.end() && at->first < flow.block->end(); ++at) {
    const BlockFlow& other = spaces_[space_].blocks[at->second];
    if (other.last_frame != frame || !is_of_this_round(other.last_run)) continue;
    const u64 common = std::max(start, other.block->start());
    if (!number_of(*other.block, common) || !number_of(*flow.block, common)) continue;
    if (!first || std::pair(common, ~other.last_run) < std::pair(first->ip, ~first->last_run))
      first = {common, other.last_run};
  }
  return first;
}

u32 ControlFlow::add_header(u64 ip) {
  Space& space = spaces_[space_];
  const auto [known, is_new] = space.header_at.try_emplace(ip, static_cast<u32>(space.headers.size()));
  const u32 number = known->second;
  if (!is_new) return number;
  space.headers.push_back({.ip = ip, .counts = {}});
  u64 executions = 0;
  for (auto at = space.by_start.lower_bound(ip - std::min(ip, longest_block));
       at != space.by_start.end() && at->first <= ip; ++at) {
    BlockFlow& flow = space.blocks[at->second];
    const auto instruction = number_of(*flow.block, ip);
    if (!instruction) continue;
    flow.headers.push_back({number, *instruction});
    std::ranges::sort(flow.headers, {}, &Place::instruction);
    executions += flow.executions;
  }
  // The last of them is the first round of the entry that goes on.
  if (executions > 1) space.headers[number].counts.trips.add(1, executions - 1);
  return number;
}

void ControlFlow::call(u64 site, u64 returns_to) {
  u64 number = thread_->frames.back().call;
  if (thread_->frames.size() < deepest_call) {
    Call& made = calls_(number, site);
    made.space = space_;
    number = static_cast<u64>(&made - calls_.values().data());
  }
  thread_->frames.push_back({.returns_to = returns_to,
                             .serial = ++frames_entered_,
                             .call = number,
                             .loops = thread_->active.size()});
}

void ControlFlow::come_back(u64 to) {
  const std::vector<FrameOfCall>& frames = thread_->frames;
  const std::size_t last = frames.size() - std::min(frames.size() - 1, most_left_frames);
  for (std::size_t n = frames.size(); n-- > last;)
    if (frames[n].returns_to == to) return drop_frames(n);
}

void ControlFlow::come_back_from_signal() {
  const std::vector<FrameOfCall>& frames = thread_->frames;
  for (std::size_t n = frames.size(); n-- > 1;)
    if (frames[n].returns_to == no_address) return drop_frames(n);
}

void ControlFlow::drop_frames(std::size_t kept) {
  drop_loops(thread_->frames[kept].loops);
  thread_->frames.resize(kept);
}

void ControlFlow::drop_loops(std::size_t kept) {
  for (; thread_->active.size() > kept; thread_->active.pop_back()) count_trips(thread_->active.back());
}

void ControlFlow::count_trips(const Active& active) { header_of(active).counts.trips.add(active.trips); }

void ControlFlow::finish() {
  for (auto& [tid, thread] : threads_) {
    thread_ = &thread;
    drop_loops(0);
  }
}

// --- loops
// ---------------------------------------------------------------------------------------------------

/// Executed blocks, cut where control may come in.
class ControlFlow::Graph {
 public:
  explicit Graph(const Space& space) : entries_(space.handlers) {
    for (const BlockFlow& flow : space.blocks) {
      if (flow.block == nullptr) continue;
      leaders_.push_back(flow.block->start());
      const bool calls = is_near_call(flow.block->instructions.back().branch);
      for (const Edge& edge : flow.edges) (calls ? entries_ : leaders_).push_back(edge.target);
    }
    leaders_.insert(leaders_.end(), entries_.begin(), entries_.end());
    std::ranges::sort(leaders_);
    leaders_.erase(std::unique(leaders_.begin(), leaders_.end()), leaders_.end());
    for (const BlockFlow& flow : space.blocks)
      if (flow.block != nullptr) cut(*flow.block);
    for (const BlockFlow& flow : space.blocks)
      if (flow.block != nullptr) link(flow);
  }

  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  std::optional<u32> block_at(u64 first) const {
    const auto known = number_.find(first);
    return known == number_.end() ? std::nullopt : std::optional(known->second);
  }
  std::vector<u32> entries() const {
    std::vector<u32> numbers;
    for (const u64 entry : entries_)
      if (const auto block = block_at(entry)) numbers.push_back(*block);
    return numbers;
  }

 private:
  void cut(const trace::Block& block) {
    std::optional<u32> last;
    for (const x86::Instruction& instruction : block.instructions) {
      if (std::ranges::binary_search(leaders_, instruction.ip)) {
        const auto [known, is_new] = number_.try_emplace(instruction.ip, static_cast<u32>(blocks_.size()));
        if (is_new) blocks_.push_back({.first = instruction.ip, .end = 0, .next = {}});
        if (last) add_edge(*last, instruction.ip);
        last = known->second;
      }
      blocks_[*last].end = std::max(blocks_[*last].end, instruction.end());
    }
    last_piece_.push_back(*last);
  }

  void link(const BlockFlow& flow) {
    const u32 last = last_piece_[linked_++];
    const x86::Instruction& ending = flow.block->instructions.back();
    if (is_jump(ending.branch))
      for (const Edge& edge : flow.edges) add_edge(last, edge.target);
    else if (ending.branch != BranchKind::near_return)
      add_edge(last, ending.end());
  }

  void add_edge(u32 from, u64 to) {
    const auto known = number_.find(to);
    if (known == number_.end()) return;
    std::vector<u32>& next = blocks_[from].next;
    if (std::ranges::find(next, known->second) == next.end()) next.push_back(known->second);
  }

  std::vector<u64> entries_, leaders_;
  std::vector<BasicBlock> blocks_;
  std::unordered_map<u64, u32> number_;  // by first instruction
  std::vector<u32> last_piece_;          // of each block
  std::size_t linked_ = 0;
};

std::vector<CountedLoop> ControlFlow::loops(u32 space_number) const {
  if (space_number >= spaces_.size()) return {};
  const Space& space = spaces_[space_number];
  const Graph graph(space);
  const auto natural = natural_loops(graph.blocks(), graph.entries());
  std::vector<std::optional<std::size_t>> innermost(graph.blocks().size());
  std::vector<CountedLoop> loops;
  for (const NaturalLoop& blocks : natural) {  // larger ones first
    CountedLoop loop{.space = space_number,
                     .header = graph.blocks()[blocks.front()].first,
                     .blocks = {},
                     .parent = innermost[blocks.front()],
                     .counts = {}};
    for (const u32 block : blocks) {
      loop.blocks.emplace_back(graph.blocks()[block].first, graph.blocks()[block].end);
      innermost[block] = loops.size();
    }
    std::ranges::sort(loop.blocks);
    loops.push_back(std::move(loop));
  }
  // A loop whose test stands at its end and is entered there is jumped back to at another block than its
  // header.
  std::vector<bool> counted(loops.size());
  for (const auto& [ip, number] : space.header_at) {
    const std::optional<u32> block = graph.block_at(ip);
    const auto in = block ? innermost[*block] : std::nullopt;
    if (!in || counted[*in]) continue;
    const TripCounts& counts = space.headers[number].counts;
    CountedLoop& loop = loops[*in];
    counted[*in] = ip == loop.header;
    if (counted[*in] || counts.trips.sum() > loop.counts.trips.sum()) loop.counts = counts;
  }
  return loops;
}

}  // namespace pmusim::why
