// The instruction sets that this processor and its operating system have, by cpuid.
//
// The compiler's __builtin_cpu_supports needs a runtime library that some compilers do not bring (zig's). A processor that
// has AVX is not enough: the system must save its registers when it switches threads, which xgetbv shows.
#pragma once

#include <cpuid.h>

#include <cstdint>

struct InstructionSets {
    bool avx2 = false;  // with fma
    bool avx512 = false;  // F, DQ, BW and VL
};

inline InstructionSets find_instruction_sets() {
    InstructionSets found;
    unsigned a, b, c, d;
    const auto bit = [](unsigned word, int position) { return (word >> position & 1) != 0; };
    if (!__get_cpuid(1, &a, &b, &c, &d) || !bit(c, 27)) return found;  // OSXSAVE: xgetbv is there
    const bool fma = bit(c, 12), avx = bit(c, 28);
    std::uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    constexpr std::uint32_t YMM = 0x06,
                            ZMM = 0xe6;  // registers that the system saves: up to 256 bits, up to 512 and masks
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
    found.avx2 = avx && fma && bit(b, 5) && (low & YMM) == YMM;
    found.avx512 = found.avx2 && bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31) && (low & ZMM) == ZMM;
    return found;
}
