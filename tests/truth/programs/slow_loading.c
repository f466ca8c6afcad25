// SPDX-License-Identifier: GPL-3.0-or-later
// A library that takes the loader two seconds. What is named before it on the line of the linker is in memory then, and not linked
// yet: the loader goes from the last to the first.

struct Span {
    long seconds, nanoseconds;
};

static void nothing(void) { }

// Nothing of the C library can be called yet.
static void (*resolve(void))(void)
{
    const struct Span span = { 2, 0 };
    long result = 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(35L /*nanosleep*/), "D"(&span), "S"(0L) : "rcx", "r11", "memory");
    return nothing;
}

void strata_slow(void) __attribute__((ifunc("resolve")));

void (*strata_slow_place)(void) = strata_slow;
