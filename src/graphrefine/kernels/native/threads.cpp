// Threads of a kernel, and Ctrl-C while it runs: signals are looked for by the thread that Python called the kernel in.
#include "threads.h"

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <exception>
#include <mutex>
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

Released::Released() : handles_signals_(in_main_thread()), next_look_(std::chrono::steady_clock::now() + BETWEEN_LOOKS) {
    kernel = this, is_caller = true;
    python_ = PyEval_SaveThread();
}

Released::~Released() {
    kernel = nullptr, is_caller = false;
    PyEval_RestoreThread(static_cast<PyThreadState *>(python_));
}

// In the thread of the caller alone.
void Released::look() {
    if (!handles_signals_ || stopped_.load(std::memory_order_relaxed) || std::chrono::steady_clock::now() < next_look_) return;
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
    std::vector<std::exception_ptr> failures(threads > 1 ? threads : 1);
    auto guarded = [&](int t) {
        try { work(self, t); } catch (...) { failures[t] = std::current_exception(); }
    };
    std::mutex mutex;
    std::condition_variable ended;
    int running = 0;
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
        { std::lock_guard<std::mutex> lock(mutex); ++running; }
        others.emplace_back([&, t] {
            kernel = own;
            guarded(t);
            std::lock_guard<std::mutex> lock(mutex);
            if (--running == 0) ended.notify_one();
        });
    }
    guarded(0);
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
