// Numbers for distinct byte strings, by an open-addressing hash table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

struct Name {
    const char *begin;
    uint32_t size;
    uint64_t hash;
    bool operator==(const Name &o) const {
        return hash == o.hash && size == o.size && std::memcmp(begin, o.begin, size) == 0;
    }
};

inline uint64_t hash_bytes(const char *p, size_t size) {
    uint64_t hash = size * 0x9e3779b97f4a7c15ull;
    for (; size; ) {
        uint64_t word = 0;
        size_t step = std::min<size_t>(size, 8);
        std::memcpy(&word, p, step);
        hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
        hash ^= hash >> 32;
        p += step;
        size -= step;
    }
    return hash;
}

// Gives each distinct name the next number.
class Numbering {
    std::vector<int32_t> slots_ = std::vector<int32_t>(1024, -1);

public:
    std::vector<Name> names;

    int32_t number(const Name &name) {
        size_t mask = slots_.size() - 1, slot = name.hash & mask;
        for (; slots_[slot] >= 0; slot = (slot + 1) & mask)
            if (names[slots_[slot]] == name) return slots_[slot];
        slots_[slot] = int32_t(names.size());
        names.push_back(name);
        if (names.size() * 2 > slots_.size()) grow();
        return int32_t(names.size()) - 1;
    }

private:
    void grow() {
        slots_.assign(slots_.size() * 4, -1);
        size_t mask = slots_.size() - 1;
        for (size_t i = 0; i < names.size(); ++i) {
            size_t slot = names[i].hash & mask;
            while (slots_[slot] >= 0) slot = (slot + 1) & mask;
            slots_[slot] = int32_t(i);
        }
    }
};
