// SPDX-License-Identifier: GPL-3.0-or-later
// A library that the loader cannot link until the file GO is there, a minute at most. What is named before it on the line of the linker
// is in memory then, and not linked yet: the loader goes from the last to the first.

struct Span {
    long seconds, nanoseconds;
};

static void nothing(void) { }

// Nothing of the C library can be called yet.
static long call(long number, const void* first, long second)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}

static void (*resolve(void))(void)
{
    const struct Span pause = { 0, 10000000 };
    for (int i = 0; i < 6000 && call(21 /*access*/, GO, 0) != 0; ++i)
        call(35 /*nanosleep*/, &pause, 0);
    return nothing;
}

void strata_slow(void) __attribute__((ifunc("resolve")));

void (*strata_slow_place)(void) = strata_slow;
