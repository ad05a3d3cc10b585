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

template <class T> using Input = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T> using Output = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

// A malloc'd array: pages are touched first by the thread that fills them, and a tail can be given back.
template <class T> class Buffer {
    struct Free { void operator()(T *p) const { std::free(p); } };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0;

public:
    Buffer() = default;
    explicit Buffer(size_t size) : size_(size) { data_.reset(checked(std::malloc(sizeof(T) * (size ? size : 1)))); }
    T *begin() { return data_.get(); }
    T &operator[](size_t i) { return data_.get()[i]; }
    size_t size() const { return size_; }
    explicit operator bool() const { return bool(data_); }

    void shrink(size_t size) {
        T *smaller = checked(std::realloc(data_.get(), sizeof(T) * (size ? size : 1)));
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
