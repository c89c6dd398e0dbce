#define _GNU_SOURCE
#include "CProcessExecutors.h"
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#if defined(__linux__) && defined(__GLIBC__)
#include <dlfcn.h>
#endif

// MARK: The thread that drives

static __thread bool is_driving;
static __thread int64_t passed;

bool tailrace_is_driving(void) { return is_driving; }
void tailrace_set_driving(bool is) { is_driving = is; }
void tailrace_set_time(int64_t nanoseconds) { passed = nanoseconds; }

// MARK: The clocks of the system

#if defined(__linux__) && defined(__GLIBC__)

typedef int (*ClockFunction)(clockid_t, struct timespec *);

static ClockFunction real_clock(void) {
  static _Atomic(ClockFunction) known;
  ClockFunction function = known;
  if (!function) known = function = (ClockFunction)dlsym(RTLD_NEXT, "clock_gettime");
  return function;
}

// What the clocks showed when virtual time began. Guard: one exploration at a time. Written before it
// drives a thread; read by that thread.
enum { CLOCK_COUNT = 8 };
static struct timespec begins[CLOCK_COUNT];

void tailrace_start_time(void) {
  for (int clock = 0; clock < CLOCK_COUNT; clock++) real_clock()(clock, &begins[clock]);
}

// The runtime's and Foundation's calls come here, since a program's own symbols come first.
__attribute__((visibility("default")))
int clock_gettime(clockid_t clock, struct timespec *result) {
  if (__builtin_expect(is_driving, 0)) {
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME:
    case CLOCK_REALTIME_COARSE: case CLOCK_MONOTONIC_COARSE: {
      int64_t nanoseconds = begins[clock].tv_nsec + passed % 1000000000;
      result->tv_sec = begins[clock].tv_sec + passed / 1000000000 + nanoseconds / 1000000000;
      result->tv_nsec = nanoseconds % 1000000000;
      return 0;
    }
    default: break;
    }
  }
  return real_clock()(clock, result);
}

#else
void tailrace_start_time(void) {}
#endif

// MARK: What the runtime knows of a task

#define SWIFT_CC __attribute__((swiftcall))

extern SWIFT_CC void *swift_task_getCurrent(void);
extern SWIFT_CC void swift_task_cancel(void *task);
extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern size_t swift_retainCount(void *object);

void *tailrace_current_task(void) { return swift_task_getCurrent(); }
void tailrace_cancel(void *task) { swift_task_cancel(task); }
void tailrace_retain(void *task) { swift_retain(task); }
void tailrace_release(void *task) { swift_release(task); }
uintptr_t tailrace_retain_count(void *task) { return swift_retainCount(task); }

// The header of a job, which is part of the runtime's binary interface.
struct JobHeader {
  void *isa;
  uintptr_t counts;
  void *scheduler_private[2];
  uint32_t flags;
};

bool tailrace_is_task(const void *job) {
  return (((const struct JobHeader *)job)->flags & 0xFF) == 0;
}

bool tailrace_is_async_let(const void *task) {
  return ((const struct JobHeader *)task)->flags & (1u << 28);
}

void tailrace_say(const char *line) {
  fputs(line, stderr);
  fputc('\n', stderr);
}

// MARK: Installing

// Swift. The runtime's variables for its executors are two words each, and read without a lock: they are
// set before any other thread can read them.
extern void tailrace_install_executors(void);
__attribute__((constructor)) static void install(void) { tailrace_install_executors(); }
