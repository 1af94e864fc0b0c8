// SPDX-License-Identifier: GPL-2.0
// The tasks of the machine, and what a scheduler, an address space and a task's life do to events.
#include <asm/mmu_context.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/user.h>
#include <linux/user_namespace.h>
#include <linux/version.h>

#include "glue.h"
#include "perf_event.h"

enum { most_tasks = 512 };

#if LINUX_VERSION_CODE >= AFTER_6_12
DEFINE_PER_CPU_CACHE_HOT(struct task_struct*, current_task);
DEFINE_PER_CPU_CACHE_HOT(unsigned long, cpu_current_top_of_stack);
DEFINE_PER_CPU_CACHE_HOT(unsigned long, __preempt_count);
asm(".globl const_current_task\n.set const_current_task, current_task\n"
    ".globl const_cpu_current_top_of_stack\n.set const_cpu_current_top_of_stack, cpu_current_top_of_stack");
#define current_task_of_cpu current_task
#define top_of_stack_of_cpu cpu_current_top_of_stack
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
DEFINE_PER_CPU_ALIGNED(struct pcpu_hot, pcpu_hot);
asm(".globl const_pcpu_hot\n.set const_pcpu_hot, pcpu_hot");
#define current_task_of_cpu pcpu_hot.current_task
#define top_of_stack_of_cpu pcpu_hot.top_of_stack
#else
DEFINE_PER_CPU(struct task_struct*, current_task);
DEFINE_PER_CPU(unsigned long, cpu_current_top_of_stack);
DEFINE_PER_CPU(int, __preempt_count);
#define current_task_of_cpu current_task
#define top_of_stack_of_cpu cpu_current_top_of_stack
#endif

struct task_struct init_task;  // where the list of processes begins
static struct task_struct* tasks[most_tasks];
static struct user_struct the_user = {.__count = REFCOUNT_INIT(1)};
static struct user_namespace the_user_namespace;
static struct cred the_credentials = {.user = &the_user, .user_ns = &the_user_namespace};
static struct pid_namespace the_pid_namespace = {.user_ns = &the_user_namespace};
static DEFINE_PER_CPU(struct task_struct*, idle);
// The compiler takes `current` for constant within a function, and these functions change it.
static DEFINE_PER_CPU(struct task_struct*, running);
static struct pid alive;  // of every task

static void make_current(struct task_struct* task) {
  this_cpu_write(running, task);
  this_cpu_write(current_task_of_cpu, task);
  this_cpu_write(top_of_stack_of_cpu, (unsigned long)task->stack + THREAD_SIZE);
}

static struct signal_struct* new_signals(void) {
  struct signal_struct* const signals = glue_alloc(sizeof *signals);
  unsigned n;
  for (n = 0; n < RLIM_NLIMITS; ++n) signals->rlim[n] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
  INIT_LIST_HEAD(&signals->thread_head);
  return signals;
}

static struct mm_struct* new_address_space(void) {
  struct mm_struct* const mm = glue_alloc(sizeof *mm);
  atomic_set(&mm->mm_users, 1000);
  atomic_set(&mm->mm_count, 1000);
  atomic_long_set(&mm->mmap_lock.count, 1);  // whoever asks holds it for writing
  return mm;
}

static struct task_struct* task_of(int tid) {
  unsigned n;
  if (tid == 0) return this_cpu_read(idle);
  for (n = 0; n < most_tasks; ++n)
    if (tasks[n] && tasks[n]->pid == tid) return tasks[n];
  return NULL;
}

static struct task_struct** free_slot(void) {
  unsigned n;
  for (n = 0; n < most_tasks; ++n)
    if (!tasks[n]) return &tasks[n];
  return NULL;
}

static struct task_struct* new_task(int pid, int tid) {
  struct task_struct* const task = glue_alloc(sizeof *task);
  struct task_struct* const first = per_cpu(idle, 0);
  struct task_struct* const leader = pid == tid ? NULL : task_of(pid);
  if (!task) return NULL;
  task->pid = tid;
  task->tgid = pid;
  task->thread_pid = &alive;
  task->group_leader = leader ?: task;
  task->real_parent = task->parent = first ?: task;
  task_thread_info(task)->cpu = smp_processor_id();
  task->signal = leader ? leader->signal : new_signals();
  task->mm = task->active_mm = leader ? leader->mm : new_address_space();
  task->stack = glue_alloc(THREAD_SIZE);
  rcu_assign_pointer(task->cred, &the_credentials);
  rcu_assign_pointer(task->real_cred, &the_credentials);
  refcount_set(&task->usage, 1000);
  mutex_init(&task->perf_event_mutex);
  INIT_LIST_HEAD(&task->perf_event_list);
  task_pt_regs(task)->cs = __USER_CS;
  list_add_tail(&task->thread_node, &task->signal->thread_head);
  INIT_LIST_HEAD(&task->tasks);
  if (pid != 0 && task == task->group_leader) list_add_tail(&task->tasks, &init_task.tasks);
  return task;
}

void glue_tasks_init(void) {
  unsigned cpu;
  INIT_LIST_HEAD(&init_task.tasks);
  for_each_possible_cpu(cpu) {
    const unsigned before = linux_enter_cpu(cpu);
    struct task_struct* const task = new_task(0, 0);
    task->flags = PF_KTHREAD | PF_IDLE;
    task->on_rq = 1;
    snprintf(task->comm, sizeof task->comm, "swapper/%u", cpu);
    this_cpu_write(idle, task);
    make_current(task);
    linux_enter_cpu(before);
  }
}

void glue_fill(struct pt_regs* to, const struct kernel_frame* from) {
  *to = (struct pt_regs){.ax = from->gpr[0],
                         .cx = from->gpr[1],
                         .dx = from->gpr[2],
                         .bx = from->gpr[3],
                         .sp = from->gpr[4],
                         .bp = from->gpr[5],
                         .si = from->gpr[6],
                         .di = from->gpr[7],
                         .r8 = from->gpr[8],
                         .r9 = from->gpr[9],
                         .r10 = from->gpr[10],
                         .r11 = from->gpr[11],
                         .r12 = from->gpr[12],
                         .r13 = from->gpr[13],
                         .r14 = from->gpr[14],
                         .r15 = from->gpr[15],
                         .ip = from->ip,
                         .flags = from->flags,
                         .cs = from->user ? __USER_CS : __KERNEL_CS,
                         .ss = from->user ? __USER_DS : __KERNEL_DS};
}

void linux_set_user_frame(const struct kernel_frame* frame) {
  glue_fill(task_pt_regs(this_cpu_read(running)), frame);
}

static void name_task(struct task_struct* task, const char* comm) {
  strscpy(task->comm, comm, sizeof task->comm);
}

#if LINUX_VERSION_CODE >= AFTER_6_12
// Events of the CPU that want call stacks give every thread room for its branches as it is forked. Whoever
// forked this task did so with the events open, and none of its forks is seen here.
static int give_branch_area(struct task_struct* task) {
  const struct pmu* const pmu = x86_get_pmu(0);
  struct perf_ctx_data* area;
  if (!pmu || !pmu->task_ctx_cache) return 0;
  area = glue_alloc(sizeof *area);
  if (!area) return -ENOMEM;
  area->data = kmem_cache_zalloc(pmu->task_ctx_cache, GFP_KERNEL);
  if (!area->data) return -ENOMEM;
  area->ctx_cache = pmu->task_ctx_cache;
  area->global = 1;
  refcount_set(&area->refcount, 1);
  rcu_assign_pointer(task->perf_ctx_data, area);
  return 0;
}
#else
static int give_branch_area(struct task_struct* task) { return 0; }
#endif

int linux_task_started(int pid, int tid, const char* comm) {
  struct task_struct** const slot = free_slot();
  struct task_struct* const task = slot ? new_task(pid, tid) : NULL;
  if (!task) return -EAGAIN;
  name_task(task, comm);
  *slot = task;
  return give_branch_area(task);
}

// Whoever forks is the current task while it does.
int linux_fork(int parent_tid, int pid, int tid) {
  struct task_struct* const parent = task_of(parent_tid);
  struct task_struct* const before = this_cpu_read(running);
  struct task_struct** const slot = free_slot();
  struct task_struct* const child = slot && parent ? new_task(pid, tid) : NULL;
  int error;
  if (!child) return -EAGAIN;
  child->real_parent = child->parent = pid == parent->tgid ? parent->real_parent : parent->group_leader;
  name_task(child, parent->comm);
  *slot = child;
  make_current(parent);
  error = perf_event_init_task(child, pid == parent->tgid ? CLONE_THREAD : 0);
  if (!error) perf_event_fork(child);
  make_current(before);
  return error;
}

void linux_exec(int tid, const char* comm) {
  struct task_struct* const task = task_of(tid);
  struct task_struct* const before = this_cpu_read(running);
  if (!task) return;
  make_current(task);
  perf_event_exec();
  name_task(task, comm);
  perf_event_comm(task, true);
  make_current(before);
}

static bool has_run(const struct task_struct* task) { return task->nvcsw + task->nivcsw != 0; }

void linux_switch_to(int tid, int preempted) {
  struct task_struct* const next = task_of(tid);
  struct task_struct* const before = this_cpu_read(running);
  unsigned long flags;
  if (!next || next == before) return;
  local_irq_save(flags);
  if (task_cpu(next) != smp_processor_id() && has_run(next)) perf_event_task_migrate(next);
  task_thread_info(next)->cpu = smp_processor_id();
  ++*(preempted ? &before->nivcsw : &before->nvcsw);
  before->on_rq = before->pid == 0 || preempted;
  next->on_rq = 1;
  perf_event_task_sched_out(before, next);
  make_current(next);
  perf_event_task_sched_in(before, next);
  local_irq_restore(flags);
}

void linux_exit(int tid) {
  struct task_struct* const task = task_of(tid);
  struct task_struct* const before = this_cpu_read(running);
  unsigned n;
  if (!task) return;
  make_current(task);
  perf_event_exit_task(task);
  if (before == task)
    linux_switch_to(0, 0);
  else
    make_current(before);
  list_del_init(&task->thread_node);
  if (list_empty(&task->signal->thread_head)) list_del_init(&task->group_leader->tasks);
  for (n = 0; n < most_tasks; ++n)
    if (tasks[n] == task) tasks[n] = NULL;
}

// --- mappings

static const char* mapped_path;

char* d_path(const struct path* path, char* buffer, int bytes) {
  strscpy(buffer, mapped_path, bytes);
  return buffer;
}
char* file_path(struct file* file, char* buffer, int bytes) { return d_path(&file->f_path, buffer, bytes); }
const char* arch_vma_name(struct vm_area_struct* area) { return NULL; }

void linux_map(int tid, unsigned long address, unsigned long bytes, unsigned long file_offset,
               pmusim_u32 protection, int shared, const char* path) {
  static struct super_block device;
  static struct inode inode = {.i_sb = &device};
  static struct dentry entry = {.d_inode = &inode};
  static struct file file = {.f_inode = &inode, .f_path.dentry = &entry};
  static struct vm_area_struct area;
  struct task_struct* const task = task_of(tid);
  struct task_struct* const before = this_cpu_read(running);
  if (!task) return;
  mapped_path = path;
  memset(&area, 0, sizeof area);
  area.vm_start = address;
  area.vm_end = address + bytes;
  area.vm_pgoff = file_offset >> PAGE_SHIFT;
  area.vm_mm = task->mm;
  area.vm_file = &file;
  *(unsigned long*)&area.vm_flags = protection | (shared ? VM_MAYSHARE | VM_SHARED : 0);
  make_current(task);
  perf_event_mmap(&area);
  make_current(before);
}

// --- what the kernel asks of a scheduler

int task_curr(const struct task_struct* task) { return task == per_cpu(running, task_cpu(task)); }
struct task_struct* find_task_by_vpid(pid_t number) {
  return task_of(number);
}
void __put_task_struct(struct task_struct* task) {}
void __put_task_struct_rcu_cb(struct rcu_head* head) {}
struct pid_namespace* task_active_pid_ns(struct task_struct* task) {
  return &the_pid_namespace;
}
pid_t __task_pid_nr_ns(struct task_struct* task, enum pid_type type, struct pid_namespace* space) {
  return type == PIDTYPE_PID ? task->pid : task->tgid;
}
struct mm_struct* get_task_mm(struct task_struct* task) {
  return task->mm;
}
void mmput(struct mm_struct* mm) {}
void free_uid(struct user_struct* user) {}
bool nmi_uaccess_okay(void) { return true; }
