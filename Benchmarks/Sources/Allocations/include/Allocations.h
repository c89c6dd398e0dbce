#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Starts counting what every thread allocates, from zero.
void allocations_start(void);

/// Stops counting. Returns the number of allocations since the start, -1 where they cannot be counted.
int64_t allocations_stop(void);

/// The bytes of the heap that are in use, with what the allocator adds to each block; -1 if unknown.
int64_t allocations_bytes(void);

#endif
