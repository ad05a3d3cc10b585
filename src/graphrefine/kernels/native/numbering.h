// Numbers for distinct keys, in the order they first appear: an open-addressing table of hashes.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

// Drawn anew by each process, so that nobody can write names that all have one hash. Numbers are sorted by name or by
// value in the end: no result depends on it.
inline uint64_t hash_seed() {
    static const uint64_t seed = [] {
        std::random_device device;
        return uint64_t(device()) << 32 | device();
    }();
    return seed;
}

// One-to-one, so that two integers are equal if their hashes are.
inline uint64_t hash_integer(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}

inline uint64_t hash_bytes(const char *p, size_t size) {
    uint64_t hash = hash_seed() + size;
    while (size) {
        uint64_t word = 0;
        size_t step = size < 8 ? size : 8;
        std::memcpy(&word, p, step);
        hash = hash_integer(hash ^ word);
        p += step;
        size -= step;
    }
    return hash;
}

class Numbering {
    struct Slot {
        uint64_t hash;
        int32_t number = -1;
    };
    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    int32_t size_ = 0;

  public:
    int32_t size() const { return size_; }
    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

    // The number of a key; `same(number)` tells whether an earlier key with the same hash is this one. A new key
    // gets the number that size() was before.
    template <class Same> int32_t number(uint64_t hash, Same same) {
        if (size_t(size_) * 2 >= slots_.size()) grow();
        Slot *slot = &find(hash);
        while (slot->number >= 0 && !(slot->hash == hash && same(slot->number))) slot = &after(slot);
        if (slot->number < 0) {
            if (size_ == std::numeric_limits<int32_t>::max())
                throw std::length_error("there are more distinct names than a graph can have nodes");
            *slot = {hash, size_++};
        }
        return slot->number;
    }

  private:
    Slot &find(uint64_t hash) { return slots_[hash & (slots_.size() - 1)]; }
    Slot &after(Slot *slot) { return slot == &slots_.back() ? slots_.front() : slot[1]; }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot &each : old) {
            if (each.number < 0) continue;
            Slot *slot = &find(each.hash);
            while (slot->number >= 0) slot = &after(slot);
            *slot = each;
        }
    }
};
