// Threads of a kernel, and Ctrl-C while it runs: signals are looked for by the thread that Python called the kernel in.
#include "threads.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace nb = nanobind;

namespace {

constexpr std::chrono::milliseconds BETWEEN_LOOKS{100};

thread_local Released *kernel = nullptr;  // the stretch that this thread works for
thread_local bool is_caller = false;

bool in_main_thread() {
    nb::object main = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

}  // namespace

Released::Released()
    : handles_signals_(in_main_thread()), next_look_(std::chrono::steady_clock::now() + BETWEEN_LOOKS) {
    kernel = this;
    is_caller = true;
    python_ = PyEval_SaveThread();
}

Released::~Released() {
    kernel = nullptr;
    is_caller = false;
    PyEval_RestoreThread(static_cast<PyThreadState *>(python_));
}

// In the thread of the caller alone.
void Released::look() {
    if (!handles_signals_ || stopped_.load(std::memory_order_relaxed) || std::chrono::steady_clock::now() < next_look_)
        return;
    PyEval_RestoreThread(static_cast<PyThreadState *>(python_));
    if (PyErr_CheckSignals() != 0) stopped_ = true;
    python_ = PyEval_SaveThread();
    next_look_ = std::chrono::steady_clock::now() + BETWEEN_LOOKS;
}

bool is_stopped() {
    if (!kernel) return false;
    if (is_caller) kernel->look();
    return kernel->stopped_.load(std::memory_order_relaxed);
}

void run_threads(int threads, void (*work)(const void *, int), const void *self) {
    Released *const own = kernel;
    const int parts = std::max(threads, 1);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(parts));
    std::atomic<int> next{1};  // the part that is free; the first is this thread's
    auto guarded = [&](int t) {
        try {
            work(self, t);
        } catch (...) {
            failures[static_cast<std::size_t>(t)] = std::current_exception();
        }
    };
    auto take_parts = [&] {
        for (int t; (t = next++) < parts;) guarded(t);
    };
    std::mutex mutex;
    std::condition_variable ended;
    int running = 0;
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(parts - 1));
    try {
        for (int t = 1; t < parts; ++t) {
            others.emplace_back([&] {
                kernel = own;
                take_parts();
                std::lock_guard<std::mutex> lock(mutex);
                if (--running == 0) ended.notify_one();
            });
            std::lock_guard<std::mutex> lock(mutex);
            ++running;
        }
    } catch (const std::system_error &) {  // no more threads to be had, or no memory for them: those that there are
    } catch (const std::bad_alloc &) {  // do the parts of all
    }
    guarded(0);
    take_parts();
    for (bool all = false; !all;) {
        is_stopped();  // a look for signals, while others work
        std::unique_lock<std::mutex> lock(mutex);
        all = ended.wait_for(lock, BETWEEN_LOOKS, [&] { return running == 0; });
    }
    for (auto &thread : others) thread.join();
    if (own && own->stopped_) throw Interrupted();
    for (auto &failure : failures)
        if (failure) std::rethrow_exception(failure);
}
