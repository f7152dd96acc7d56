#include "sdk/http/http_api.hpp"

#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/environment.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/client/sse_reader.hpp"
#include "sdk/http/http_answers.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kErrorBodyBytesMax = std::size_t{1024} * 1024;
constexpr int kNoContent = 204;

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// No answer came, or none that could be read.
Error unreachable(const Error& cause, const std::string& url) {
  if (cause.code() != ErrorCode::unavailable && cause.code() != ErrorCode::timeout) return cause;
  std::string hint = cause.hint();
  if (hint.empty()) {
    hint = cat("is the server at ", url,
               " running? 'errand serve' starts one, --server URL names another");
  }
  return Error(ErrorCode::unavailable, cause.message()).reason(RunApi::kUnreachable).hint(hint);
}

// Adds where the key came from, which the server cannot know.
Error refused(const Error& error, const Credentials& server) {
  if (error.code() != ErrorCode::unauthorized || server.key_source.empty()) return error;
  return Error(error.code(),
               cat(server.url, " refuses the key ", server.key_source, ": ", error.message()))
      .reason(error.reason())
      .hint(
          "give another with --key KEY; where 'errand serve' keeps its data, 'errand keys "
          "create' makes one");
}

// Empty if the frame is not one that servers send.
Sparse<ModelRetry> retry_of_frame(const std::string& data) {
  auto parsed = json::parse(data);
  const json::Object* frame = parsed ? parsed->if_object() : nullptr;
  auto pause = json::integer_at(frame, "pauseMs");
  if (!pause) return {};
  return ModelRetry{.why = std::string(json::text_at(frame, "message")),
                    .until = std::chrono::steady_clock::now() + milliseconds(*pause)};
}

// The server-sent events of one connection.
class FrameSource final : public EventSource {
 public:
  explicit FrameSource(std::unique_ptr<net::ClientStream> stream) : stream_(std::move(stream)) {}

  Task<Result<Heard>> read() override {
    ERRAND_CO_TRY(auto bytes, co_await stream_->read());
    if (bytes.empty()) {
      co_return Error(ErrorCode::unavailable, "the stream ended before the run did");
    }
    ERRAND_CO_TRY(auto frames, reader_.feed(bytes));
    Heard heard;
    for (const net::SseEvent& frame : frames) {
      if (frame.type == "model_retry") {
        heard.retry = retry_of_frame(frame.data);
        continue;
      }
      ERRAND_CO_TRY(auto event, event_of_frame(frame.data));
      heard.events.push_back(std::move(event));
      heard.retry.reset();
    }
    co_return heard;
  }

 private:
  const std::unique_ptr<net::ClientStream> stream_;
  net::SseReader reader_;
};

std::string answer_body(const ToolUseId& call, const ToolAnswer& answer, const std::string& claim) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("toolUseId", call.view()).field(answer.ok ? "result" : "error", answer.text);
  if (answer.is_fatal) out.field("fatal", true);
  if (!claim.empty()) out.field("claimId", claim);
  if (!answer.files.empty()) out.field("files", json::Value(sent_files(answer.files)));
  out.end();
  return body;
}

Query query_of(const RunQuery& asked) {
  Query query{{"limit", std::to_string(asked.limit)}};
  if (asked.status) query.emplace_back("status", to_string(*asked.status));
  for (const auto& [key, value] : asked.metadata) {
    query.emplace_back("metadata", cat(key, ":", value));
  }
  if (asked.session) query.emplace_back("sessionId", asked.session->view());
  if (!asked.cursor.empty()) query.emplace_back("cursor", asked.cursor);
  return query;
}

}  // namespace

HttpApi::HttpApi(Credentials server) : HttpApi(std::move(server), host::client_options_here()) {}

HttpApi::HttpApi(Credentials server, net::ClientOptions options)
    : server_(std::move(server)), http_(std::move(options)) {}

HttpApi::HttpApi(Credentials server, Teller tell)
    : server_(std::move(server)), tell_(std::move(tell)), http_(host::client_options_here()) {}

net::ClientRequest HttpApi::make(const ApiRequest& request) const {
  net::ClientRequest out{.method = request.method, .body = request.body};
  out.timeouts.first_byte = request.timeout;
  out.timeouts.idle = request.timeout;
  out.timeouts.total = request.timeout;
  out.url = cat(server_.url, "/api/v1/workspaces/", percent_encode(server_.workspace),
                target_of(request));
  out.headers = {{"Authorization", cat("Bearer ", server_.key)},
                 {"User-Agent", cat("errand/", version())},
                 {"Accept", "application/json"}};
  if (!request.body.empty()) out.headers.push_back({"Content-Type", "application/json"});
  if (request.version) out.headers.push_back({"If-Match", cat('"', *request.version, '"')});
  if (!request.key.empty()) {
    out.headers.push_back({"Idempotency-Key", request.key});
    out.resend = net::Resend::once;
  }
  return out;
}

Task<Result<json::Value>> HttpApi::send(ApiRequest request) {
  auto answer = co_await http_.send(make(request));
  if (!answer) co_return unreachable(answer.error(), server_.url);
  if (!is_success(answer->status)) {
    co_return refused(error_of_answer(answer->status, answer->body), server_);
  }
  co_return parse_body(answer->body, server_.url);
}

Task<Result<std::unique_ptr<EventSource>>> HttpApi::open_stream(RunId run, EventSeq after) {
  std::string seq = std::to_string(after);
  net::ClientRequest request = make(
      {.path = run_path(run.view(), "/stream"), .query = {{"lastSeq", seq}, {"notices", "true"}}});
  request.headers.back() = {"Accept", "text/event-stream"};
  request.headers.push_back({"Last-Event-ID", seq});
  request.timeouts.idle = kSilenceMax;
  request.timeouts.total = net::ClientTimeouts::kNone;
  auto stream = co_await http_.open(std::move(request));
  if (!stream) co_return unreachable(stream.error(), server_.url);
  int status = (*stream)->status();
  if (status == kNoContent) {
    co_return Error(ErrorCode::not_found, cat("the run ended with event ", after))
        .reason(RunApi::kNoMoreEvents);
  }
  if (is_success(status)) co_return std::make_unique<FrameSource>(std::move(*stream));

  std::string body;
  while (body.size() < kErrorBodyBytesMax) {
    auto piece = co_await (*stream)->read();
    if (!piece || piece->empty()) break;
    body += *piece;
  }
  co_return refused(error_of_answer(status, body), server_);
}

Task<Result<json::Value>> HttpApi::post(std::string path, std::string body, std::string key) {
  ApiRequest request{.method = Method::post,
                     .path = std::move(path),
                     .body = std::move(body),
                     .key = std::move(key)};
  co_return co_await send(std::move(request));
}

void HttpApi::tell_warnings(const json::Value& answer) const {
  const json::Array* warnings = json::array_at(answer.if_object(), "warnings");
  if (!warnings || !tell_) return;
  for (const json::Value& one : *warnings) {
    if (one.is_string()) tell_(cat(server_.url, " warns: ", json::view(one.get_string())));
  }
}

Task<Result<RunId>> HttpApi::create(Spec spec, std::string key, BodyPtr body) {
  std::string sent = json::write(body ? *body : to_json(spec, Origin::wire));
  ERRAND_CO_TRY(auto made, co_await post("/agent-runs", std::move(sent), std::move(key)));
  tell_warnings(made);
  co_return parse_run_id(made);
}

Task<Result<RunId>> HttpApi::fork(RunId run, ForkParams params, std::string key, BodyPtr body) {
  json::Object sent = body ? *body : to_json(params);
  if (params.from_seq) sent["fromSeq"] = *params.from_seq;
  ERRAND_CO_TRY(auto made,
                co_await post(run_path(run.view(), "/fork"), json::write(sent), std::move(key)));
  tell_warnings(made);
  co_return parse_run_id(made);
}

Task<Result<void>> HttpApi::answer(RunId run, ToolUseId call, ToolAnswer answer,
                                   std::string claim) {
  std::string path = run_path(run.view(), "/tool-results");
  ERRAND_CO_CHECK(co_await post(std::move(path), answer_body(call, answer, claim)));
  co_return Result<void>();
}

Task<Result<RunStatus>> HttpApi::cancel(RunId run, seconds timeout) {
  ApiRequest request{
      .method = Method::post, .path = run_path(run.view(), "/cancel"), .timeout = timeout};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return parse_status(answer);
}

Task<Result<RunInfo>> HttpApi::get(RunId run) {
  ERRAND_CO_TRY(auto answer, co_await send({.path = run_path(run.view(), "")}));
  co_return parse_run_info(answer);
}

Task<Result<RunPage>> HttpApi::list(RunQuery query) {
  ApiRequest request{.path = "/agent-runs", .query = query_of(query), .timeout = query.timeout};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return parse_run_page(answer);
}

Task<Result<std::vector<JournalEntry>>> HttpApi::journal(RunId run) {
  ERRAND_CO_TRY(auto entries, co_await read_pages(this, run.str(), "journal", "entries"));
  std::string text;
  for (const json::Value& entry : entries) append(text, json::write(entry), '\n');
  co_return parse_journal(text);
}

Task<Result<engine::ModelList>> HttpApi::models(ModelQuery query) {
  ApiRequest request{.path = "/models", .timeout = query.timeout};
  if (query.check == ModelCheck::made) request.query.emplace_back("check", "true");
  if (!query.named.empty()) request.query.emplace_back("named", query.named);
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return engine::parse_model_list(answer);
}

}  // namespace errand::sdk
