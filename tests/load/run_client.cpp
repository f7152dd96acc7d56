#include "load/run_client.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"

namespace errand::load {
namespace {

Error unexpected(std::string_view what, std::string_view found) {
  return {ErrorCode::unavailable, cat(what, ": ", utf8_prefix(found, 400))};
}

}  // namespace

Result<std::string> read_id(std::string_view text, std::string_view key) {
  ERRAND_TRY(json::Value value, json::parse(text));
  json::Fields in(value, "");
  std::string id = in.text(key);
  return in.finish(std::move(id));
}

Task<Result<std::string>> exchange(Connection* connection, WireRequest request, int wanted) {
  ERRAND_CO_TRY(int status, co_await connection->send(std::move(request)));
  ERRAND_CO_TRY(std::string body, co_await connection->read_all());
  if (status != wanted) co_return unexpected(cat("status ", status), body);
  co_return body;
}

RunClient::RunClient(const Requests& requests, Connection& stream)
    : requests_(requests), stream_(stream) {}

Task<Result<void>> RunClient::create() {
  return create(requests_.create());
}

Task<Result<void>> RunClient::create(WireRequest creation) {
  ERRAND_CO_TRY(std::string created, co_await exchange(&stream_, std::move(creation), 201));
  ERRAND_CO_TRY(run_, read_id(created, "runId"));
  co_return Result<void>();
}

Task<Result<void>> RunClient::start() {
  return start(requests_.create());
}

Task<Result<void>> RunClient::start(WireRequest creation) {
  ERRAND_CO_CHECK(co_await create(std::move(creation)));
  ERRAND_CO_TRY(int status, co_await stream_.send(requests_.stream(run_)));
  if (status == 200) co_return Result<void>();
  ERRAND_CO_TRY(std::string body, co_await stream_.read_all());
  co_return unexpected(cat("stream: status ", status), body);
}

Task<Result<RunClient::Progress>> RunClient::follow() {
  while (calls_.empty()) {
    ERRAND_CO_TRY(bool is_open, co_await read_more());
    if (is_open) continue;
    if (last_type_ != "result") co_return unexpected("the stream ended after", last_type_);
    co_return Progress::ended;
  }
  co_return Progress::waits;
}

Task<Result<void>> RunClient::await_delta() {
  while (delta_times_.empty()) {
    ERRAND_CO_TRY(bool is_open, co_await read_more());
    if (!is_open) co_return unexpected("the stream ended after", last_type_);
  }
  co_return Result<void>();
}

Task<Result<bool>> RunClient::read_more() {
  ERRAND_CO_TRY(std::string bytes, co_await stream_.read());
  if (bytes.empty()) co_return false;
  counts_.bytes += bytes.size();
  ERRAND_CO_TRY(auto events, events_.feed(bytes));
  const SteadyTime now = std::chrono::steady_clock::now();
  for (const net::SseEvent& event : events) ERRAND_CO_CHECK(take(event, now));
  co_return true;
}

Result<void> RunClient::take(const net::SseEvent& event, SteadyTime now) {
  ++counts_.events;
  if (event.type == "assistant_delta") delta_times_.push_back(now);
  last_type_ = event.type;
  if (event.type != "local_tool_call") return {};
  ERRAND_TRY(std::string tool_use, read_id(event.data, "toolUseId"));
  calls_.push_back(std::move(tool_use));
  return {};
}

Task<Result<void>> RunClient::answer(Connection* connection) {
  for (const std::string& tool_use : std::exchange(calls_, {})) {
    ERRAND_CO_CHECK(co_await exchange(connection, requests_.answer(run_, tool_use), 204));
    ++counts_.answers;
  }
  co_return Result<void>();
}

}  // namespace errand::load
