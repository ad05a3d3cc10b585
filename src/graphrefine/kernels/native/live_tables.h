// Arrays of live vectors that grow, and are read at random.
#pragma once

#include "arrays.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

constexpr std::size_t LINE = 64;  // of the cache, in bytes

// Memory that is read at random: at the begin of a line, and in huge pages where there are some.
template <class T> struct HugePages {
    using value_type = T;
    HugePages() = default;
    template <class U> HugePages(const HugePages<U> &) {}
    T *allocate(std::size_t count) {
        const std::size_t bytes = (count * sizeof(T) + LINE - 1) / LINE * LINE;
        void *memory = std::aligned_alloc(LINE, bytes);
        if (!memory) throw std::bad_alloc();
        return static_cast<T *>(with_huge_pages(memory, bytes));
    }
    void deallocate(T *memory, std::size_t) { std::free(memory); }
    friend bool operator==(const HugePages &, const HugePages &) { return true; }
    friend bool operator!=(const HugePages &, const HugePages &) { return false; }
};
template <class T> using Large = std::vector<T, HugePages<T>>;

// Rows of float32 that grow at the end.
class Table {
    Large<float> data_;  // its room doubles; untouched pages of it cost nothing

public:
    std::int64_t columns = 0;
    void resize(std::int64_t rows) {
        if (static_cast<std::size_t>(rows * columns) > data_.capacity()) data_.reserve(std::max<std::size_t>(rows * columns, data_.capacity() + data_.capacity() / 8));
        data_.resize(rows * columns);
    }
    float *operator[](std::int64_t row) { return data_.data() + row * columns; }
    const float *operator[](std::int64_t row) const { return data_.data() + row * columns; }
    const float *begin() const { return data_.data(); }
};
