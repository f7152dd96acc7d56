#include "sdk/embedded_api.hpp"

#include <utility>
#include <vector>

#include "base/text.hpp"
#include "server/error_body.hpp"

namespace errand::sdk {
namespace {

constexpr std::string_view kThisProcess = "this process";

// The events of a run as bytes, as a connection would bring them.
class FeedStream final : public net::ClientStream {
 public:
  explicit FeedStream(net::Response response) : response_(std::move(response)) {}

  int status() const override { return response_.status; }
  const std::vector<net::Header>& headers() const override { return response_.headers; }

  Task<Result<std::string>> read() override {
    using State = net::EventFeed::State;
    while (!has_ended_ && response_.events) {
      auto chunk = co_await response_.events->read(SteadyTime::max());
      has_ended_ = chunk.state == State::ended;
      if (chunk.state == State::broken) {
        co_return Error(ErrorCode::unavailable, "the store does not give the events of the run");
      }
      if (!chunk.frames.empty()) co_return std::move(chunk.frames);
    }
    co_return std::string();
  }

 private:
  net::Response response_;
  bool has_ended_ = false;
};

bool is_success(int status) {
  return status >= 200 && status < 300;
}

}  // namespace

EmbeddedApi::EmbeddedApi(host::Host& host)
    : workspace_(*WorkspaceSlug::parse("default")),
      api_(host.engine(), host.keys(),
           {.caller = Principal{.workspace = workspace_, .key = {}},
            .missing_result = host.config().missing_result}),
      router_(server::render_error) {
  api_.add_routes(router_);
}

net::Request EmbeddedApi::make(const ApiRequest& request) const {
  net::Request out{.method = request.method, .body = request.body};
  std::size_t question_mark = request.path.find('?');
  out.path = cat("/api/v1/workspaces/", workspace_.view(), request.path.substr(0, question_mark));
  if (question_mark != std::string::npos) out.query = request.path.substr(question_mark + 1);
  return out;
}

Task<Result<json::Value>> EmbeddedApi::send(ApiRequest request) {
  net::Response answer = co_await router_.handle(make(request));
  co_return value_of_answer(answer.status, answer.body, kThisProcess);
}

Task<Result<std::unique_ptr<net::ClientStream>>> EmbeddedApi::open_stream(std::string run,
                                                                          EventSeq after, seconds) {
  ApiRequest request{.path = run_path(run, cat("/stream?lastSeq=", after))};
  net::Response answer = co_await router_.handle(make(request));
  if (!is_success(answer.status)) co_return error_of_answer(answer.status, answer.body);
  co_return std::make_unique<FeedStream>(std::move(answer));
}

}  // namespace errand::sdk
