#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Numbers of heap blocks; -1 where they cannot be counted.
struct allocations {
  int64_t made;
  int64_t freed;
};

/// Starts counting what every thread allocates and frees, from zero.
void allocations_start(void);

/// Stops counting.
struct allocations allocations_stop(void);

/// The bytes of the heap that are in use, with what the allocator adds to each block; -1 if unknown.
int64_t allocations_bytes(void);

#endif
