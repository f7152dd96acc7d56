#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.hpp"
#include "llm/script.hpp"
#include "sdk/local_calls.hpp"
#include "sdk/run_end.hpp"
#include "sdk/run_stream.hpp"
#include "store/memory/memory_store.hpp"
#include "support/run_task.hpp"

namespace errand::sdk {

inline host::Config scripted(std::string_view turns) {
  host::Config config;
  config.models = {{.info = {.id = "s", .provider = "scripted", .vendor_model_id = "v"},
                    .label = "S",
                    .script = *llm::parse_script(turns)}};
  return config;
}

// A host whose model says "Hm.", calls "echo" and a tool that nobody has, and says "Done."
class HostTest : public testing::Test {
 protected:
  static constexpr std::string_view kTurns = R"({"turns":[
      {"text":["Hm."],"toolCalls":[{"name":"echo","args":{"word":"a"}},{"name":"nobody"}]},
      {"text":["Done."]}]})";

  void TearDown() override { run_task(io_, host_.stop()); }

  template <class T>
  T value_of(Task<Result<T>> task) {
    auto result = run_task(io_, std::move(task));
    EXPECT_TRUE(result) << result.error().describe();
    return result ? *std::move(result) : T();
  }
  template <class T>
  Error error_of(Task<Result<T>> task) {
    auto result = run_task(io_, std::move(task));
    EXPECT_FALSE(result);
    return result ? Error(ErrorCode::internal, "nothing is wrong") : result.error();
  }

  asio::io_context io_{1};
  SystemClock clock_;
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning};
  host::Host host_{{.io = io_, .clock = clock_, .log = log_, .typed_events = true},
                   scripted(kTurns),
                   std::make_unique<MemoryStore>(make_memory_store_data(), clock_)};
};

// Reads a run to its end and answers its calls, if anybody does; gives its events as lines.
inline Task<std::vector<std::string>> lines_until_end(RunStream* stream, LocalCalls* calls) {
  std::vector<std::string> lines;
  for (;;) {
    auto item = co_await stream->next();
    if (!item) co_return lines;
    const auto* call = std::get_if<LocalToolCall>(&item->event.event);
    if (call && calls) calls->start(stream->run(), *call);
    append_event_line(lines.emplace_back(), item->event);
    if (end_of(item->event.event)) co_return lines;
  }
}

}  // namespace errand::sdk
