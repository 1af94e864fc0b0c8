// SPDX-License-Identifier: MIT
// Keeps account of its own call stack, and prints it at each of its checkpoints: a line per checkpoint, with
// the thread's number first and the functions from the innermost on. A checkpoint executes a
// locked instruction twice: a PEBS counter of period 1 overflows at one and records the next.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Names = std::vector<const char*>;

thread_local Names main_names;
thread_local Names* kept = nullptr;
thread_local std::vector<std::string>* lines = nullptr;
std::vector<std::string> lines_of[3];
int volatile zero = 0;

}  // namespace

extern "C" {

__attribute__((noinline)) void st_checkpoint() {
  for (int lock = 0; lock < 2; ++lock) {
    for (int n = 0; n < 500; ++n) asm volatile("");  // what was under way is over
    asm volatile("lock; addl $0, %0" : "+m"(*const_cast<int*>(&zero)));
  }
  std::string line = "st_checkpoint";
  for (std::size_t at = kept->size(); at-- > 0;) line += std::string(" ") + (*kept)[at];
  lines->push_back(line);
}

struct Here {
  explicit Here(const char* name) { kept->push_back(name); }
  ~Here() { kept->pop_back(); }
  Here(const Here&) = delete;
};

__attribute__((noinline)) int st_odd(int n);
__attribute__((noinline)) int st_even(int n) {
  Here here("st_even");
  if (n % 3 == 0) st_checkpoint();
  const int result = n == 0 ? 0 : st_odd(n - 1) + 1;
  st_checkpoint();
  return result;
}
int st_odd(int n) {
  Here here("st_odd");
  return n == 0 ? 0 : st_even(n - 1) + 1;
}

// The last call of a function is a jump: the caller's frame is the callee's from then on.
__attribute__((noinline)) void st_tail_end(int) {
  st_checkpoint();
  kept->back() = "st_tail_end";
  st_checkpoint();
  kept->pop_back();
}
__attribute__((noinline)) void st_tail_begin(int n) {
  kept->push_back("st_tail_begin");
  st_checkpoint();
  kept->back() = "st_tail_end";
  asm volatile("" ::: "memory");
  return st_tail_end(n);
}

sigjmp_buf back;

__attribute__((noinline)) void st_deep(int n) {
  Here here("st_deep");
  st_checkpoint();
  if (n == 0) siglongjmp(back, 1);
  st_deep(n - 1);
  st_checkpoint();
}
__attribute__((noinline)) void st_jumps_out() {
  Here here("st_jumps_out");
  const std::size_t depth = kept->size();
  if (sigsetjmp(back, 1) == 0) st_deep(4);
  kept->resize(depth);
  st_checkpoint();
}

__attribute__((noinline)) void st_handler(int signal) {
  Here here("st_handler");
  st_checkpoint();
  st_even(1);
  if (signal == SIGUSR2) siglongjmp(back, 1);
}
__attribute__((noinline)) void st_traps() {
  Here here("st_traps");
  asm volatile("ud2");
  st_checkpoint();
}
__attribute__((noinline)) void st_fault(int, siginfo_t*, void* context) {
  Here here("st_fault");
  st_checkpoint();
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;  // behind it
}
__attribute__((noinline)) void st_signals() {
  Here here("st_signals");
  raise(SIGUSR1);
  st_checkpoint();
  const std::size_t depth = kept->size();
  if (sigsetjmp(back, 1) == 0) raise(SIGUSR2);
  kept->resize(depth);
  st_checkpoint();
  st_traps();
  st_checkpoint();
}

__attribute__((noinline)) void st_cleanup() {
  Here here("st_cleanup");
  st_checkpoint();
}
struct Cleanup {
  ~Cleanup() { st_cleanup(); }
};
__attribute__((noinline)) void st_throws(int n) {
  Here here("st_throws");
  if (n == 0) throw 42;
  const Cleanup cleanup;
  st_throws(n - 1);
}
__attribute__((noinline)) void st_catches() {
  Here here("st_catches");
  for (int n = 0; n < 3; ++n) {
    try {
      st_throws(n);
    } catch (int) {
      st_checkpoint();
    }
  }
  st_checkpoint();
}

ucontext_t main_context, contexts[2];
Names context_names[2];

void go_to(ucontext_t& from, ucontext_t& to, Names& names) {
  kept = &names;
  swapcontext(&from, &to);
}
__attribute__((noinline)) void st_yields(int number, int n) {
  Here here("st_yields");
  st_checkpoint();
  if (n > 0) st_yields(number, n - 1);
  go_to(contexts[number], main_context, main_names);
  st_checkpoint();
}
void st_coroutine(int number) {
  Here here("st_coroutine");
  st_yields(number, 3);
  st_checkpoint();
  kept->pop_back();
  go_to(contexts[number], main_context, main_names);
}
__attribute__((noinline)) void st_switches() {
  Here here("st_switches");
  for (int number = 0; number < 2; ++number) {
    constexpr std::size_t bytes = 256 << 10;
    getcontext(&contexts[number]);
    contexts[number].uc_stack.ss_sp = malloc(bytes);
    contexts[number].uc_stack.ss_size = bytes;
    makecontext(&contexts[number], reinterpret_cast<void (*)()>(st_coroutine), 1, number);
  }
  for (int n = 0; n < 10; ++n) {
    go_to(main_context, contexts[n % 2], context_names[n % 2]);
    st_checkpoint();
  }
}

__attribute__((noinline)) void st_generates() {
  Here here("st_generates");
  // push %rbx; movabs $st_checkpoint, %rbx; call *%rbx; pop %rbx; ret
  unsigned char code[] = {0x53, 0x48, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xD3, 0x5B, 0xC3};
  const auto function = reinterpret_cast<unsigned long>(st_checkpoint);
  memcpy(code + 3, &function, sizeof function);
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  reinterpret_cast<void (*)()>(page)();
  st_checkpoint();
}

__attribute__((noinline)) void st_all() {
  Here here("st_all");
  st_even(9);
  st_tail_begin(1);
  st_catches();
  st_generates();
  st_checkpoint();
}

void* st_thread(void* number) {
  kept = &main_names;
  lines = &lines_of[reinterpret_cast<long>(number)];
  Here here("st_thread");
  st_all();
  return nullptr;
}

int main() {
  kept = &main_names;
  lines = &lines_of[0];
  {
    Here here("main");
    st_all();
    static char handlers_stack[64 << 10];
    const stack_t other = {.ss_sp = handlers_stack, .ss_flags = 0, .ss_size = sizeof handlers_stack};
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_handler = st_handler;
    sigaction(SIGUSR2, &action, nullptr);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = st_fault;
    sigaction(SIGILL, &action, nullptr);
    st_jumps_out();
    st_signals();
    st_switches();
    pthread_t threads[2];
    for (long n = 0; n < 2; ++n)
      pthread_create(&threads[n], nullptr, st_thread, reinterpret_cast<void*>(n + 1));
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    st_checkpoint();
  }
  for (int number = 0; number < 3; ++number)
    for (const std::string& line : lines_of[number]) printf("%d %s\n", number, line.c_str());
}
}
