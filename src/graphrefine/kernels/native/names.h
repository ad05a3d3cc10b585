// Names as bytes somewhere in memory: numbered in the order they appear, and sorted.
#pragma once

#include "numbering.h"
#include "threads.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

struct Name {
    const char *begin;
    size_t size;
    uint64_t hash;
};

// The number of a name, which joins the names if it is new.
inline int32_t number(Numbering &numbering, std::vector<Name> &names, const Name &name) {
    int32_t found = numbering.number(name.hash, [&](int32_t earlier) {
        const Name &other = names[earlier];
        return other.size == name.size && std::memcmp(other.begin, name.begin, name.size) == 0;
    });
    if (size_t(found) == names.size()) names.push_back(name);
    return found;
}

// The numbers of distinct names in the order of their bytes.
inline std::vector<int32_t> sort_names(const std::vector<Name> &names) {
    struct Entry {
        uint64_t prefix;
        int32_t at;
    };   // the first bytes decide most comparisons without a cache miss
    std::vector<Entry> order(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        uint64_t prefix = 0;
        for (size_t b = 0; b < 8; ++b)
            prefix = prefix << 8 | (b < names[i].size ? static_cast<unsigned char>(names[i].begin[b]) : 0);
        order[i] = {prefix, int32_t(i)};
    }
    uint64_t compared = 0;
    std::sort(order.begin(), order.end(), [&](const Entry &a, const Entry &b) {
        stop_if_asked(++compared);
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        const Name &x = names[a.at], &y = names[b.at];
        int sign = std::memcmp(x.begin, y.begin, std::min(x.size, y.size));
        return sign ? sign < 0 : x.size < y.size;
    });
    std::vector<int32_t> sorted(order.size());
    for (size_t i = 0; i < order.size(); ++i) sorted[i] = order[i].at;
    return sorted;
}
