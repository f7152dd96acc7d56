#include "llm/fake/fake_api.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/fake/fake_feed.hpp"

namespace errand::llm {
namespace {

constexpr std::size_t kSeedLength = 16;
constexpr std::string_view kStreamAction = ":streamGenerateContent";
constexpr std::string_view kWholeAction = ":generateContent";
constexpr std::string_view kPaths =
    "POST /v1/chat/completions, POST /v1/responses, POST /v1/messages, "
    "POST /v1beta/models/MODEL:generateContent, POST /v1beta/models/MODEL:streamGenerateContent, "
    "GET /v1/models, GET /requests, DELETE /requests";

constexpr std::string_view kWrongKey =
    "Incorrect API key provided: this fake wants the one of its --key.";

struct Surface {
  int status;
  std::string_view type;  // Anthropic's and OpenAI's
  std::string_view word;  // Google's
};

Surface surface_of(const Error& error) {
  if (error.reason() == "headers_too_large") return {431, "request_too_large", "INVALID_ARGUMENT"};
  if (error.reason() == "method_not_allowed")
    return {405, "invalid_request_error", "UNIMPLEMENTED"};
  if (error.reason() == "expectation_failed")
    return {417, "invalid_request_error", "UNIMPLEMENTED"};
  switch (error.code()) {
    case ErrorCode::forbidden: return {403, "permission_error", "PERMISSION_DENIED"};
    case ErrorCode::not_found: return {404, "not_found_error", "NOT_FOUND"};
    case ErrorCode::too_large: return {413, "request_too_large", "INVALID_ARGUMENT"};
    case ErrorCode::timeout: return {408, "timeout_error", "DEADLINE_EXCEEDED"};
    case ErrorCode::unavailable: return {503, "overloaded_error", "UNAVAILABLE"};
    case ErrorCode::unsupported: return {501, "invalid_request_error", "UNIMPLEMENTED"};
    case ErrorCode::internal: return {500, "api_error", "INTERNAL"};
    default: return {400, "invalid_request_error", "INVALID_ARGUMENT"};
  }
}

net::Response json_response(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

// The steps in which a turn is sent, cut where the script says so.
std::vector<FakeFeed::Step> steps_of(const ScriptedTurn& turn, FakeStream stream) {
  if (turn.cut_after && *turn.cut_after < stream.pieces.size()) {
    stream.pieces.resize(*turn.cut_after);
  }
  std::vector<FakeFeed::Step> steps;
  steps.push_back({.frames = std::move(stream.opening)});
  milliseconds delay = turn.delay;
  for (std::string& piece : stream.pieces) {
    steps.push_back({.delay = delay, .frames = std::move(piece)});
    delay = turn.delta_delay;
  }
  if (turn.cut_after) {
    steps.push_back({.delay = delay + FakeApi::kCutPause});
  } else {
    steps.push_back({.delay = delay, .frames = std::move(stream.ending)});
  }
  return steps;
}

// Equal for equal requests, and different for any others.
std::string seed_of(const net::Request& request) {
  return crypto::to_hex(crypto::sha256(cat(request.path, "\n", request.body)))
      .substr(0, kSeedLength);
}

}  // namespace

FakeApi::FakeApi(Options options, const Clock& clock, Log& log, Executor home)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      home_(std::move(home)),
      chat_{.format = make_fake_chat()},
      responses_{.format = make_fake_responses()},
      anthropic_{
          .format = make_fake_anthropic(), .key_header = "x-api-key", .id_header = "request-id"},
      gemini_{.format = make_fake_gemini(), .key_header = "x-goog-api-key"} {}

void FakeApi::add_routes(net::Router& router) {
  auto add_vendor = [&](std::string_view path, const Vendor* vendor) {
    router.add(net::Method::post, path,
               [this, vendor](net::Request request) { return answer(vendor, std::move(request)); });
  };
  add_vendor("/v1/chat/completions", &chat_);
  add_vendor("/v1/responses", &responses_);
  add_vendor("/v1/messages", &anthropic_);
  auto add = [&](net::Method method, std::string_view path,
                 Task<net::Response> (FakeApi::*handler)(net::Request)) {
    router.add(method, path, [this, handler](net::Request request) {
      return (this->*handler)(std::move(request));
    });
  };
  add(net::Method::post, "/v1beta/models/{}", &FakeApi::answer_gemini);
  add(net::Method::get, "/v1/models", &FakeApi::list_models);
  add(net::Method::get, "/requests", &FakeApi::show_requests);
  add(net::Method::delete_, "/requests", &FakeApi::forget_requests);
}

net::Response FakeApi::render_error(const Error& error) {
  Surface surface = surface_of(error);
  std::string message = error.message();
  if (error.code() == ErrorCode::not_found) append(message, "; there are: ", kPaths);
  std::string_view code = error.reason().empty() ? surface.type : std::string_view(error.reason());
  json::Object body{{"message", message},
                    {"type", surface.type},
                    {"param", nullptr},
                    {"code", code},
                    {"status", surface.word}};
  return json_response(surface.status,
                       json::write(json::Object{{"type", "error"}, {"error", std::move(body)}}));
}

Task<net::Response> FakeApi::answer(const Vendor* vendor, net::Request request) {
  return answer_with({.vendor = *vendor}, std::move(request));
}

Task<net::Response> FakeApi::answer_gemini(net::Request request) {
  std::string_view target = request.params[0];
  Asked asked{.vendor = gemini_, .streams = target.ends_with(kStreamAction)};
  std::size_t action = target.rfind(':');
  bool is_known = action != std::string_view::npos && action > 0 &&
                  (asked.streams || target.substr(action) == kWholeAction);
  if (!is_known) {
    co_return render_error(Error(ErrorCode::not_found, cat("there is no ", request.path)));
  }
  asked.model = target.substr(0, action);
  asked.in_array = asked.streams && request.query_param("alt") != "sse";
  co_return co_await answer_with(std::move(asked), std::move(request));
}

Task<net::Response> FakeApi::answer_with(Asked asked, net::Request request) {
  asked.seed = seed_of(request);
  RequestLog::Outcome outcome;
  Decision decision = decide(asked, request, outcome);
  std::string_view id_header = asked.vendor.id_header;
  if (!id_header.empty()) {
    decision.response.headers.push_back({std::string(id_header), cat("req_", asked.seed)});
  }
  outcome.status = decision.response.status;
  requests_.add(request, outcome);
  log_.info("answers", {{"path", request.path},
                        {"turn", outcome.turn ? cat(*outcome.turn) : "?"},
                        {"status", cat(outcome.status)},
                        {"requestId", request.id}});
  if (decision.delay.count() > 0) {
    Wakeup pause(home_);
    co_await pause.wait_until(clock_.steady_now() + decision.delay);
  }
  co_return std::move(decision.response);
}

FakeApi::Decision FakeApi::decide(const Asked& asked, const net::Request& request,
                                  RequestLog::Outcome& outcome) {
  const FakeFormat& format = *asked.vendor.format;
  auto refuse = [&](int status, std::string code, std::string message) {
    return Decision{json_response(
        status, format.error({status, std::move(code), std::move(message), asked.seed}))};
  };
  auto body = json::parse(request.body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  outcome.is_json = body.has_value();
  if (!has_key(asked.vendor, request)) return refuse(401, "", std::string(kWrongKey));
  if (!body) return refuse(400, "", cat("The body is ", body.error().message(), "."));
  if (!body->is_object()) return refuse(400, "", "The body is not a JSON object.");
  auto wanted = format.read(body->as_object());
  if (!wanted) return refuse(400, wanted.error().reason(), wanted.error().message());
  outcome.turn = wanted->turn;
  if (wanted->turn >= options_.script.size()) {
    return refuse(400, "",
                  cat("The script has ", options_.script.size(), " turns, but turn ",
                      wanted->turn + 1, " was asked for."));
  }
  const ScriptedTurn& turn = options_.script[wanted->turn];
  if (!turn.failure) return play(asked, *wanted, body->as_object());
  Decision failed = refuse(turn.failure->api_status, turn.failure->api_code, turn.failure->message);
  failed.delay = turn.delay;
  return failed;
}

FakeApi::Decision FakeApi::play(const Asked& asked, const FakeRequest& wanted,
                                const json::Object& body) {
  const FakeFormat& format = *asked.vendor.format;
  const ScriptedTurn& turn = options_.script[wanted.turn];
  FakeAnswer answer{.turn = turn,
                    .number = wanted.turn,
                    .model = asked.model.empty() ? wanted.model : asked.model,
                    .seed = asked.seed,
                    .created_at = to_millis(clock_.now()) / 1000,
                    .request = body};
  auto end = turn.cut_after ? FakeFeed::End::broken : FakeFeed::End::clean;
  Decision decision;
  if ((asked.streams || wanted.streams) && !asked.in_array) {
    decision.response.events =
        std::make_unique<FakeFeed>(steps_of(turn, format.stream(answer)), end, home_);
    return decision;
  }
  decision.delay = turn.delay;
  if (turn.cut_after) {
    // The connection is reset before the head of the answer: an answer that is not streamed comes
    // whole or not at all.
    decision.response.events =
        std::make_unique<FakeFeed>(std::vector<FakeFeed::Step>(), end, home_);
    return decision;
  }
  std::string whole = format.whole(answer);
  decision.response.body = asked.in_array ? cat("[", whole, "]") : std::move(whole);
  return decision;
}

bool FakeApi::has_key(const Vendor& vendor, const net::Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string& key = options_.key;
  if (key.empty()) return true;
  std::string_view authorization = request.header("authorization");
  if (authorization.starts_with(kBearer) && authorization.substr(kBearer.size()) == key) {
    return true;
  }
  if (!vendor.key_header.empty() && request.header(vendor.key_header) == key) return true;
  return &vendor == &gemini_ && request.query_param("key") == key;
}

Task<net::Response> FakeApi::list_models(net::Request request) {
  if (!has_key(chat_, request)) {
    FakeError error{.status = 401, .message = std::string(kWrongKey)};
    co_return json_response(401, chat_.format->error(error));
  }
  json::Object model{{"id", "fake"},
                     {"object", "model"},
                     {"created", to_millis(clock_.now()) / 1000},
                     {"owned_by", "errand"}};
  co_return json_response(
      200, json::write(json::Object{{"object", "list"}, {"data", json::Array{std::move(model)}}}));
}

Task<net::Response> FakeApi::show_requests(net::Request) {
  co_return json_response(200, requests_.to_json());
}

Task<net::Response> FakeApi::forget_requests(net::Request) {
  requests_.clear();
  co_return json_response(204, "");
}

}  // namespace errand::llm
