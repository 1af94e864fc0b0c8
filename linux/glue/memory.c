// SPDX-License-Identifier: GPL-2.0
// Pages and slabs of the kernel, out of one region that the program gives.
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "glue.h"

unsigned long page_offset_base, vmalloc_base, vmemmap_base, phys_base;
pteval_t __default_kernel_pte_mask = ~0;
struct mm_struct init_mm;

enum { smallest_class = 5, largest_class = 11, orders = 16 };

static unsigned long region, region_end, next_page, cpu_entry_area_address;

// Free objects of 2^class bytes and free runs of 2^order pages, each pointing at the next.
static void* free_objects[largest_class + 1];
static void* free_runs[orders];

// What a page is used for: the class of its objects, or the order of the run that it begins.
static unsigned long* use_of(const void* address) { return &virt_to_page(address)->private; }

void glue_memory_init(const struct kernel_memory* memory) {
  page_offset_base = region = next_page = memory->pages;
  region_end = memory->pages + memory->page_bytes;
  vmemmap_base = memory->page_structures;
  cpu_entry_area_address = memory->cpu_entry_area;
  next_page += PAGE_SIZE;  // page 0 is nobody's
}

unsigned long linux_used_bytes(void) { return next_page - region; }
unsigned long linux_cpu_entry_area_bytes(void) { return sizeof(struct cpu_entry_area); }

static void* take(void** list) {
  void* const first = *list;
  if (first) *list = *(void**)first;
  return first;
}

static void put(void** list, void* object) {
  *(void**)object = *list;
  *list = object;
}

static void* take_run(unsigned order) {
  void* run;
  if (order >= orders) return NULL;
  run = take(&free_runs[order]);
  if (!run) {
    const unsigned long bytes = PAGE_SIZE << order;
    const unsigned long at = ALIGN(next_page, bytes);
    if (at + bytes > region_end) return NULL;
    next_page = at + bytes;
    run = (void*)at;
  }
  *use_of(run) = 64 + order;
  return run;
}

static void* take_object(unsigned class) {
  if (!free_objects[class]) {
    char* const page = take_run(0);
    unsigned long at;
    if (!page) return NULL;
    *use_of(page) = class;
    for (at = 0; at < PAGE_SIZE; at += 1ul << class) put(&free_objects[class], page + at);
  }
  return take(&free_objects[class]);
}

void* glue_alloc(unsigned long bytes) {
  const unsigned class = max_t(unsigned, smallest_class, order_base_2(bytes));
  void* const object = class <= largest_class ? take_object(class) : take_run(get_order(bytes));
  if (object) memset(object, 0, bytes);
  return object;
}

void kfree(const void* object) {
  void* const freed = (void*)object;
  unsigned long use;
  if (ZERO_OR_NULL_PTR(object)) return;
  use = *use_of((void*)((unsigned long)object & PAGE_MASK));
  put(use >= 64 ? &free_runs[use - 64] : &free_objects[use], freed);
}

void kvfree(const void* object) { kfree(object); }

// A cache is no more than the size of its objects.
struct glue_cache {
  unsigned bytes;
};
static struct glue_cache* cache_of(struct kmem_cache* cache) { return (struct glue_cache*)cache; }

static struct kmem_cache* new_cache(unsigned bytes) {
  struct glue_cache* const cache = glue_alloc(sizeof *cache);
  cache->bytes = bytes;
  return (struct kmem_cache*)cache;
}

void kmem_cache_free(struct kmem_cache* cache, void* object) { kfree(object); }

static struct page* take_pages(unsigned order) {
  void* const run = take_run(order);
  if (!run) return NULL;
  memset(run, 0, PAGE_SIZE << order);
  return virt_to_page(run);
}

void __free_pages(struct page* page, unsigned order) { put(&free_runs[order], page_address(page)); }
void free_pages(unsigned long address, unsigned order) {
  if (address) put(&free_runs[order], (void*)address);
}
void split_page(struct page* page, unsigned order) {
  unsigned n;
  for (n = 0; n < 1u << order; ++n) page[n].private = 64;
}
void __folio_put(struct folio* folio) {}
bool __virt_addr_valid(unsigned long address) { return address >= region && address < region_end; }

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
void* __kmalloc_noprof(size_t bytes, gfp_t flags) { return glue_alloc(bytes); }
void* kmem_cache_alloc_noprof(struct kmem_cache* cache, gfp_t flags) {
  return glue_alloc(cache_of(cache)->bytes);
}
void* __kmalloc_node_noprof(DECL_BUCKET_PARAMS(bytes, b), gfp_t flags, int node) { return glue_alloc(bytes); }
void* __kmalloc_cache_noprof(struct kmem_cache* cache, gfp_t flags, size_t bytes) {
  return glue_alloc(bytes);
}
void* __kmalloc_cache_node_noprof(struct kmem_cache* cache, gfp_t flags, int node, size_t bytes) {
  return glue_alloc(bytes);
}
void* kmem_cache_alloc_node_noprof(struct kmem_cache* cache, gfp_t flags, int node) {
  return glue_alloc(cache_of(cache)->bytes);
}
void* kmem_cache_alloc_lru_noprof(struct kmem_cache* cache, struct list_lru* lru, gfp_t flags) {
  return glue_alloc(cache_of(cache)->bytes);
}
struct kmem_cache* __kmem_cache_create_args(const char* name, unsigned bytes,
                                            struct kmem_cache_args* arguments, slab_flags_t flags) {
  return new_cache(max(bytes, arguments->align));
}
struct page* __alloc_pages_noprof(gfp_t flags, unsigned order, int node, nodemask_t* nodes) {
  return take_pages(order);
}
void __percpu* pcpu_alloc_noprof(size_t bytes, size_t alignment, bool reserved, gfp_t flags) {
  return glue_alloc_percpu(bytes, alignment);
}
kmem_buckets kmalloc_caches[NR_KMALLOC_TYPES];
#if LINUX_VERSION_CODE >= AFTER_6_12
void* __kmalloc_large_noprof(size_t bytes, gfp_t flags) { return glue_alloc(bytes); }
struct page* alloc_pages_node_noprof(int node, gfp_t flags, unsigned order) {
  return take_pages(order);
}
#endif

#else  // the names of before
void* __kmalloc(size_t bytes, gfp_t flags) { return glue_alloc(bytes); }
void* __kmalloc_node(size_t bytes, gfp_t flags, int node) { return glue_alloc(bytes); }
void* kmalloc_large(size_t bytes, gfp_t flags) { return glue_alloc(bytes); }
void* kmalloc_trace(struct kmem_cache* cache, gfp_t flags, size_t bytes) { return glue_alloc(bytes); }
void* kmalloc_node_trace(struct kmem_cache* cache, gfp_t flags, int node, size_t bytes) {
  return glue_alloc(bytes);
}
void* kmem_cache_alloc(struct kmem_cache* cache, gfp_t flags) { return glue_alloc(cache_of(cache)->bytes); }
void* kmem_cache_alloc_node(struct kmem_cache* cache, gfp_t flags, int node) {
  return glue_alloc(cache_of(cache)->bytes);
}
void* kmem_cache_alloc_lru(struct kmem_cache* cache, struct list_lru* lru, gfp_t flags) {
  return glue_alloc(cache_of(cache)->bytes);
}
struct kmem_cache* kmem_cache_create(const char* name, unsigned bytes, unsigned alignment, slab_flags_t flags,
                                     void (*construct)(void*)) {
  return new_cache(max(bytes, alignment));
}
struct page* __alloc_pages(gfp_t flags, unsigned order, int node, nodemask_t* nodes) {
  return take_pages(order);
}
void __percpu* __alloc_percpu(size_t bytes, size_t alignment) { return glue_alloc_percpu(bytes, alignment); }
void __percpu* __alloc_percpu_gfp(size_t bytes, size_t alignment, gfp_t flags) {
  return glue_alloc_percpu(bytes, alignment);
}
struct kmem_cache* kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];
#endif

// The entry area is where the buffers that hardware writes have their addresses. It is memory of its own
// here; the kernel reaches a buffer by that address alone.
struct cpu_entry_area* get_cpu_entry_area(int cpu) {
  return (struct cpu_entry_area*)cpu_entry_area_address + cpu;
}
void cea_set_pte(void* address, phys_addr_t physical, pgprot_t flags) {}
void flush_tlb_kernel_range(unsigned long start, unsigned long end) {}
