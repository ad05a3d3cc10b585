// Random numbers as a hash of what they are for: none depends on how many were drawn before it.
#pragma once

#include <cstdint>

constexpr std::uint64_t GOLDEN = 0x9e3779b97f4a7c15u;

inline std::uint64_t mixed(std::uint64_t x) {  // the finaliser of SplitMix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

inline double fraction(std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53; }  // from 0 to below 1

// From 0 to below `limit`.
inline std::uint64_t below(std::uint64_t x, std::uint64_t limit) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(x) * limit >> 64);
}
