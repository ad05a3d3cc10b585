// Arrays handed to NumPy without a copy.
#pragma once

#include "threads.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

template <class T> using Input =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T> using Output = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

// Asks for huge pages where an array is large; a system that has none gives small ones.
inline void *with_huge_pages(void *memory, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = 1 << 21;
    const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    if (memory && bytes >= 2 * page) (void)madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
    return memory;
}

// A malloc'd array: pages are touched first by the thread that fills them, and a tail can be given back.
template <class T> class Buffer {
    struct Free {
        void operator()(T *p) const { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0;

  public:
    Buffer() = default;
    explicit Buffer(size_t size) : size_(size) {
        data_.reset(checked(with_huge_pages(std::malloc(bytes(size)), bytes(size))));
    }
    T *begin() { return data_.get(); }
    T &operator[](size_t i) { return data_.get()[i]; }
    size_t size() const { return size_; }
    explicit operator bool() const { return bool(data_); }

    void shrink(size_t size) {
        T *smaller = checked(std::realloc(data_.get(), bytes(size)));
        (void)data_.release();
        data_.reset(smaller);
        size_ = size;
    }

    // Needs the GIL, as it makes a Python object. `As` is T, or its signed twin.
    template <class As = T> nanobind::object numpy() {
        if (!data_) return nanobind::none();
        T *raw = data_.release();
        nanobind::capsule owner(raw, [](void *p) noexcept { std::free(p); });
        return nanobind::cast(Output<As>(reinterpret_cast<As *>(raw), {size_}, owner));
    }

  private:
    static std::size_t bytes(std::size_t size) {
        if (size > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
        return sizeof(T) * (size ? size : 1);
    }
    static T *checked(void *p) {
        if (!p) throw std::bad_alloc();
        return static_cast<T *>(p);
    }
};

// An array that NumPy allocates, and where its numbers are: for results that are read at random, as NumPy asks for huge pages.
template <class T, class... Sizes> std::pair<nanobind::object, T *> empty(const char *dtype, Sizes... sizes) {
    using Array = nanobind::ndarray<T, nanobind::ndim<sizeof...(Sizes)>, nanobind::c_contig, nanobind::device::cpu>;
    nanobind::object array = nanobind::module_::import_("numpy").attr("empty")(nanobind::make_tuple(sizes...), dtype);
    return {array, nanobind::cast<Array>(array).data()};
}
