#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Whether this thread runs code of an exploration: the clocks of the system then show virtual time.
bool tailrace_is_driving(void);
void tailrace_set_driving(bool is_driving);

/// Virtual time begins now.
void tailrace_start_time(void);
/// So many nanoseconds of virtual time have passed, for this thread.
void tailrace_set_time(int64_t nanoseconds);

/// The task that runs on this thread; null if none does.
void *_Nullable tailrace_current_task(void);
/// Whether a job is a task. Others only put tasks in line.
bool tailrace_is_task(const void *_Nonnull job);
/// Whether a task is one of async let. It lives in the frame of its parent, and must not be retained.
bool tailrace_is_async_let(const void *_Nonnull task);
void tailrace_retain(void *_Nonnull task);
void tailrace_release(void *_Nonnull task);
uintptr_t tailrace_retain_count(void *_Nonnull task);
void tailrace_cancel(void *_Nonnull task);

/// Writes a line to the standard error.
void tailrace_say(const char *_Nonnull line);
