// SPDX-License-Identifier: GPL-2.0
// System calls on events: files and their numbers, and the mapping of a ring buffer.
#include <asm/syscall.h>
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/syscalls.h>
#include <linux/version.h>

#include "glue.h"
#include "internal.h"
#include "perf_event.h"

enum { most_files = 1024 };

struct event_file {
  struct file file;
  struct vm_area_struct area;
  bool used, mapped;
};
static struct event_file* files[most_files];

static struct event_file* file_of(int fd) {
  return fd >= 0 && fd < most_files && files[fd] && files[fd]->used ? files[fd] : NULL;
}

int get_unused_fd_flags(unsigned flags) {
  int fd;
  for (fd = 0; fd < most_files; ++fd)
    if (!files[fd]) return fd;
  return -EMFILE;
}
void put_unused_fd(unsigned fd) {}
void fd_install(unsigned fd, struct file* file) {
  files[fd] = container_of(file, struct event_file, file);
  files[fd]->used = true;
}

struct file* anon_inode_getfile(const char* name, const struct file_operations* operations, void* data,
                                int flags) {
  static struct inode inode;
  struct event_file* const made = glue_alloc(sizeof *made);
  if (!made) return ERR_PTR(-ENOMEM);
  made->file.f_op = operations;
  made->file.private_data = data;
  made->file.f_flags = flags;
  made->file.f_inode = &inode;
  return &made->file;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
struct fd fdget(unsigned fd) {
  return (struct fd){file_of(fd) ? (unsigned long)&file_of(fd)->file : 0};
}
#else
unsigned long __fdget(unsigned fd) {
  return file_of(fd) ? (unsigned long)&file_of(fd)->file : 0;
}
#endif
void fput(struct file* file) {}

asmlinkage long __x64_sys_perf_event_open(const struct pt_regs* arguments);

int linux_open(const void* attr, unsigned long bytes, int pid, int cpu, int group, unsigned long flags) {
  const struct pt_regs arguments = {.di = (unsigned long)attr,
                                    .si = pid,
                                    .dx = cpu,
                                    .r10 = group,
                                    .r8 = flags,
                                    .orig_ax = __NR_perf_event_open};
  return __x64_sys_perf_event_open(&arguments);
}

long linux_read(int fd, void* buffer, unsigned long bytes) {
  struct event_file* const event = file_of(fd);
  loff_t position = 0;
  if (!event) return -EBADF;
  return event->file.f_op->read(&event->file, (char __user*)buffer, bytes, &position);
}

long linux_ioctl(int fd, pmusim_u32 command, unsigned long argument) {
  struct event_file* const event = file_of(fd);
  if (!event) return -EBADF;
  return event->file.f_op->unlocked_ioctl(&event->file, command, argument);
}

int linux_counts(int fd) {
  const struct event_file* const file = file_of(fd);
  const struct perf_event* const event = file ? file->file.private_data : NULL;
  const struct cpu_hw_events* const cpu = this_cpu_ptr(&cpu_hw_events);
  const int counter = event ? event->hw.idx : -1;
  return counter >= 0 && cpu->events[counter] == event && test_bit(counter, cpu->active_mask);
}

void linux_close(int fd) {
  struct event_file* const event = file_of(fd);
  if (!event) return;
  if (event->mapped) event->area.vm_ops->close(&event->area);
  event->file.f_op->release(event->file.f_inode, &event->file);
  files[fd] = NULL;
}

#if LINUX_VERSION_CODE >= AFTER_6_12
// Nobody looks at a mapping by its addresses.
int remap_pfn_range(struct vm_area_struct* area, unsigned long address, unsigned long page,
                    unsigned long bytes, pgprot_t protection) {
  return 0;
}
void zap_vma_range(struct vm_area_struct* area, unsigned long address, unsigned long bytes) {}
pgprot_t vm_get_page_prot(vm_flags_t flags) { return (pgprot_t){0}; }
#endif

int linux_mmap(int fd, unsigned long data_pages) {
  struct event_file* const event = file_of(fd);
  int error;
  if (!event) return -EBADF;
  memset(&event->area, 0, sizeof event->area);
  event->area.vm_start = 0x100000000ul;
  event->area.vm_end = event->area.vm_start + (data_pages + 1) * PAGE_SIZE;
  event->area.vm_mm = current->mm;
  event->area.vm_file = &event->file;
  *(unsigned long*)&event->area.vm_flags = VM_SHARED | VM_READ | VM_WRITE;
  error = event->file.f_op->mmap(&event->file, &event->area);
  event->mapped = error == 0;
  return error;
}

void* linux_mapped_page(int fd, unsigned long number) {
  struct event_file* const event = file_of(fd);
  struct perf_event* const perf_event = event ? event->file.private_data : NULL;
  struct page* const page = perf_event && perf_event->rb ? perf_mmap_to_page(perf_event->rb, number) : NULL;
  return page ? page_address(page) : NULL;
}
