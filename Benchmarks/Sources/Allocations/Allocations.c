#include "Allocations.h"

#include <stddef.h>
#include <stdlib.h>

#ifdef __GLIBC__

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

// A program that links this file calls these functions for its allocations, and so do the libraries
// that it loads: they stand before the C library's own.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_bool counting;
static _Atomic int64_t made, freed;

// While nothing is counted, this costs a load of a line that nobody writes.
static inline void count(_Atomic int64_t *number) {
  if (__builtin_expect(atomic_load_explicit(&counting, memory_order_relaxed), false)) {
    atomic_fetch_add_explicit(number, 1, memory_order_relaxed);
  }
}

void *malloc(size_t size) {
  count(&made);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(&made);
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  if (block == NULL) count(&made);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(&made);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  count(&made);
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *block = memory;
  return 0;
}

void free(void *block) {
  if (block != NULL) count(&freed);
  __libc_free(block);
}

void allocations_start(void) {
  atomic_store(&made, 0);
  atomic_store(&freed, 0);
  atomic_store(&counting, true);
}

struct allocations allocations_stop(void) {
  atomic_store(&counting, false);
  return (struct allocations){.made = atomic_load(&made), .freed = atomic_load(&freed)};
}

int64_t allocations_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

#else

void allocations_start(void) {}
struct allocations allocations_stop(void) { return (struct allocations){-1, -1}; }
int64_t allocations_bytes(void) { return -1; }

#endif
