// SPDX-License-Identifier: GPL-2.0
// Services of the kernel that the PMU's code leans on, for a machine on which one thing happens at a time:
// locks never wait, what is to come later comes when the program says so.
#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "glue.h"

// --- printing (the host's C library formats; what only a kernel can print comes out as its address)

int vsnprintf(char* to, size_t bytes, const char* format, va_list values);

int _printk(const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  vsnprintf(line, sizeof line, printk_skip_level(format), values);
  va_end(values);
  host_print(line);
  return 0;
}

void __warn_printk(const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  host_print(line);
}

int scnprintf(char* to, size_t bytes, const char* format, ...) {
  va_list values;
  int length;
  va_start(values, format);
  length = vsnprintf(to, bytes, format, values);
  va_end(values);
  return min_t(int, length, bytes ? bytes - 1 : 0);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define sized_strscpy strscpy
#endif
ssize_t sized_strscpy(char* to, const char* from, size_t bytes) {
  size_t n;
  for (n = 0; n + 1 < bytes && from[n]; ++n) to[n] = from[n];
  if (bytes) to[n] = 0;
  return from[n] ? -E2BIG : (ssize_t)n;
}

size_t strlcpy(char* to, const char* from, size_t bytes) {  // of older kernels
  size_t length = 0;
  if (bytes) sized_strscpy(to, from, bytes);
  while (from[length]) ++length;
  return length;
}

int ___ratelimit(struct ratelimit_state* state, const char* function) { return 1; }

// --- locks

#if LINUX_VERSION_CODE >= AFTER_6_12
void mutex_init_generic(struct mutex* lock) { memset(lock, 0, sizeof *lock); }
int init_srcu_struct_generic(struct srcu_struct* structure) { return 0; }
bool __percpu_down_read(struct percpu_rw_semaphore* lock, bool try, bool freezable) { return true; }
void __percpu_up_read(struct percpu_rw_semaphore* lock) {}
int __rhltable_init_noprof(struct rhltable* table, const struct rhashtable_params* parameters,
                           struct lock_class_key* key) {
  return 0;
}
int unwind_deferred_init(struct unwind_work* work, unwind_callback_t function) { return 0; }
#else
void __mutex_init(struct mutex* lock, const char* name, struct lock_class_key* key) {
  memset(lock, 0, sizeof *lock);
}
int init_srcu_struct(struct srcu_struct* structure) { return 0; }
bool __percpu_down_read(struct percpu_rw_semaphore* lock, bool try) { return true; }
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define rhltable_init_noprof rhltable_init
#endif
int rhltable_init_noprof(struct rhltable* table, const struct rhashtable_params* parameters) { return 0; }
#endif
void mutex_lock(struct mutex* lock) { atomic_long_set(&lock->owner, 1); }
void mutex_unlock(struct mutex* lock) { atomic_long_set(&lock->owner, 0); }
bool mutex_is_locked(struct mutex* lock) { return atomic_long_read(&lock->owner) != 0; }
int mutex_lock_interruptible(struct mutex* lock) {
  mutex_lock(lock);
  return 0;
}
int mutex_trylock(struct mutex* lock) {
  if (mutex_is_locked(lock)) return 0;
  mutex_lock(lock);
  return 1;
}
int atomic_dec_and_mutex_lock(atomic_t* count, struct mutex* lock) {
  if (!atomic_dec_and_test(count)) return 0;
  mutex_lock(lock);
  return 1;
}
int _atomic_dec_and_raw_lock_irqsave(atomic_t* count, raw_spinlock_t* lock, unsigned long* flags) {
  if (!atomic_dec_and_test(count)) return 0;
  raw_spin_lock_irqsave(lock, *flags);
  return 1;
}
bool refcount_dec_and_mutex_lock(refcount_t* count, struct mutex* lock) {
  if (!refcount_dec_and_test(count)) return false;
  mutex_lock(lock);
  return true;
}
bool refcount_dec_not_one(refcount_t* count) {
  if (refcount_read(count) == 1) return false;
  refcount_dec(count);
  return true;
}
void down_read(struct rw_semaphore* lock) {}
void up_read(struct rw_semaphore* lock) {}
int down_read_interruptible(struct rw_semaphore* lock) { return 0; }
void down_write(struct rw_semaphore* lock) {}
void up_write(struct rw_semaphore* lock) {}
void percpu_down_write(struct percpu_rw_semaphore* lock) {}
void percpu_up_write(struct percpu_rw_semaphore* lock) {}
bool percpu_is_read_locked(struct percpu_rw_semaphore* lock) { return false; }
int __srcu_read_lock(struct srcu_struct* structure) { return 0; }
void __srcu_read_unlock(struct srcu_struct* structure, int index) {}
void synchronize_srcu(struct srcu_struct* structure) {}
void synchronize_rcu(void) {}
unsigned long get_state_synchronize_rcu(void) { return 0; }
void cond_synchronize_rcu(unsigned long state) {}
int __cond_resched(void) { return 0; }
void __local_bh_enable_ip(unsigned long address, unsigned count) { __preempt_count_sub(count); }

static struct callback_head* rcu_callbacks;
void call_rcu(struct callback_head* head, rcu_callback_t function) {
  head->func = function;
  head->next = rcu_callbacks;
  rcu_callbacks = head;
}

// The function of such a head is the object itself.
static struct callback_head* rcu_objects;
static void free_object_later(struct callback_head* head, void* object) {
  if (!head) return kvfree(object);
  head->func = (rcu_callback_t)object;
  head->next = rcu_objects;
  rcu_objects = head;
}
#if LINUX_VERSION_CODE >= AFTER_6_12
void kvfree_call_rcu(struct kvfree_rcu_head* head, void* object) {
  free_object_later(head ? &head->head : NULL, object);
}
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
void kvfree_call_rcu(struct callback_head* head, void* object) { free_object_later(head, object); }
#else
// Told is where in the object its head is.
void kvfree_call_rcu(struct callback_head* head, rcu_callback_t offset) {
  free_object_later(head, head ? (char*)head - (unsigned long)offset : (void*)offset);
}
#endif

static void free_rcu_objects(void) {
  while (rcu_objects) {
    struct callback_head* const head = rcu_objects;
    rcu_objects = head->next;
    kvfree((void*)head->func);
  }
}

void glue_run_rcu(void) {
  free_rcu_objects();
  while (rcu_callbacks) {
    struct callback_head* const head = rcu_callbacks;
    rcu_callbacks = head->next;
    head->func(head);
  }
}

// --- waiting, which never comes to pass

void __init_waitqueue_head(struct wait_queue_head* head, const char* name, struct lock_class_key* key) {
  INIT_LIST_HEAD(&head->head);
}
int __wake_up(struct wait_queue_head* head, unsigned mode, int count, void* key) { return 0; }
void wake_up_var(void* variable) {}
int rcuwait_wake_up(struct rcuwait* wait) { return 0; }
void kill_fasync(struct fasync_struct** queue, int signal, int band) {}
bool queue_work_on(int cpu, struct workqueue_struct* queue, struct work_struct* work) { return true; }
bool queue_delayed_work_on(int cpu, struct workqueue_struct* queue, struct delayed_work* work,
                           unsigned long delay) {
  return true;
}
void delayed_work_timer_fn(struct timer_list* timer) {}
struct workqueue_struct *system_wq, *system_percpu_wq;

// --- user memory: what system calls are given is the program's own

unsigned long _copy_from_user(void* to, const void __user* from, unsigned long bytes) {
  memcpy(to, (const void*)from, bytes);
  return 0;
}
unsigned long _copy_to_user(void __user* to, const void* from, unsigned long bytes) {
  memcpy((void*)to, from, bytes);
  return 0;
}
int check_zeroed_user(const void __user* from, size_t bytes) {
  const char* const byte = (const char*)from;
  size_t n;
  for (n = 0; n < bytes; ++n)
    if (byte[n]) return 0;
  return 1;
}
unsigned long copy_from_user_nmi(void* to, const void __user* from, unsigned long bytes) {
  return bytes - host_read_user(to, (unsigned long)from, bytes);
}

// These have calling conventions of their own. Reading words of the watched program fails: its stack is not
// known.
asm(".pushsection .text\n"
    ".globl __get_user_nocheck_8\n__get_user_nocheck_8: mov $-14, %eax\n xor %edx, %edx\n ret\n"
    ".globl __get_user_4\n__get_user_4: mov (%rax), %edx\n xor %eax, %eax\n ret\n"
    ".globl __put_user_4\n__put_user_4: mov %eax, (%rcx)\n xor %ecx, %ecx\n ret\n"
    ".globl __put_user_8\n__put_user_8: mov %rax, (%rcx)\n xor %ecx, %ecx\n ret\n"
    ".globl BUG_func\nBUG_func: ud2\n"
    ".globl preempt_schedule_thunk\npreempt_schedule_thunk:\n"
    ".globl preempt_schedule_notrace_thunk\npreempt_schedule_notrace_thunk: ret\n"
    ".popsection");

// --- what is not there

int register_die_notifier(struct notifier_block* block) { return 0; }
int register_reboot_notifier(struct notifier_block* block) { return 0; }
void register_syscore(void* core) {}
void register_syscore_ops(void* operations) {}
bool reserve_perfctr_nmi(unsigned counter) { return true; }
void release_perfctr_nmi(unsigned counter) {}
bool reserve_evntsel_nmi(unsigned counter) { return true; }
void release_evntsel_nmi(unsigned counter) {}
int is_intel_pt_event(struct perf_event* event) { return 0; }
void intel_pt_interrupt(void) {}
int build_id_parse_nofault(struct vm_area_struct* area, unsigned char* id, __u32* bytes) { return -ENOENT; }
void refcount_warn_saturate(refcount_t* count, enum refcount_saturation_type type) {
  host_print("refcount saturated or used after it fell to 0");
}
