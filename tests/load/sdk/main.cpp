// errand_sdk_bench: agents in this process, by the public headers alone, without a store on the
// disk. Prints one line of JSON: CPU of the whole process for a run, and when handlers began, in
// nanoseconds of the machine's steady clock.
#include <errand/errand.hpp>

#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kExitUsage = 2;
constexpr const char* kUsage =
    "Usage: errand_sdk_bench CONFIG [--tool] [--runs N] [--warm-up N] [--in-flight N]\n"
    "                        [--tool-ms N]\n"
    "\n"
    "Runs the default model of the configuration file. With --tool, runs have the tool \"fetch\",\n"
    "whose handler takes so many ms.\n";

struct Options {
  std::string config;
  bool tool = false;
  int runs = 1000;
  int warm_up = 200;
  int in_flight = 8;
  int tool_ms = 0;
};

struct Page {
  int page = 0;
};

// When handlers began.
class Starts final {
 public:
  void add() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    std::lock_guard lock(mutex_);
    nanos_.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }
  std::vector<std::int64_t> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(nanos_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> nanos_;
};

bool parse(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.config = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--tool") {
      options.tool = true;
      continue;
    }
    if (++i == argc) return false;
    int value = 0;
    const std::string_view text = argv[i];
    auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || value < 0) return false;
    if (name == "--runs") {
      options.runs = value;
    } else if (name == "--warm-up") {
      options.warm_up = value;
    } else if (name == "--in-flight") {
      options.in_flight = value;
    } else if (name == "--tool-ms") {
      options.tool_ms = value;
    } else {
      return false;
    }
  }
  return options.runs > 0 && options.in_flight > 0;
}

double cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto millis = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return millis(usage.ru_utime) + millis(usage.ru_stime);
}

// So many runs, so many of them at once. Returns how many have failed.
int play(errand::Runtime& runtime, const errand::RunOptions& what, int runs, int in_flight) {
  std::atomic<int> begun = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < in_flight; ++i) {
    threads.emplace_back([&] {
      while (begun++ < runs) {
        auto reply = runtime.try_run(what);
        if (reply && reply->ok()) continue;
        if (failed++ == 0) {
          std::fprintf(stderr, "errand_sdk_bench: %s\n",
                       reply ? reply->error.c_str() : reply.error().what());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed;
}

int bench(const Options& options) {
  Starts starts;
  errand::RunOptions what{.prompt = "Say something."};
  if (options.tool) {
    auto handler = [&](const Page&) {
      starts.add();
      const std::chrono::milliseconds time(options.tool_ms);
      if (options.tool_ms > 0) std::this_thread::sleep_for(time);  // paced: a slow tool
      return std::string("Here you are.");
    };
    what.tools.push_back(errand::tool("fetch", "Fetches a page.", handler, {.read_only = true}));
  }
  errand::Runtime runtime({.config = options.config});
  int failed = play(runtime, what, options.warm_up, options.in_flight);
  starts.take();
  const double before = cpu_ms();
  failed += play(runtime, what, options.runs, options.in_flight);
  const double each = (cpu_ms() - before) / options.runs;
  std::string line;
  for (std::int64_t at : starts.take()) {
    line += line.empty() ? "" : ",";
    line += std::to_string(at);
  }
  std::printf("{\"failed\":%d,\"cpuMs\":%.4f,\"starts\":[%s]}\n", failed, each, line.c_str());
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return kExitUsage;
  }
  try {
    return bench(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "errand_sdk_bench: %s\n", error.what());
    return 1;
  }
}
