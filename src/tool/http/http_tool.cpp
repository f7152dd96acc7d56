#include "tool/http/http_tool.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "json/parse.hpp"
#include "json/pointer.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "tool/http/placeholders.hpp"

namespace errand {
namespace {

constexpr std::size_t kErrorBodyBytes = 2000;
constexpr std::size_t kUrlBytesMax = 8'000;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool may_follow(net::Method method) {
  return method == net::Method::get || method == net::Method::head;
}

bool is_line(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// Whether a server may take a part of the path as a step up to another path.
bool climbs(std::string_view url) {
  std::string_view path = url.substr(url.find("://") + 3);
  path = path.substr(0, path.find_first_of("?#"));
  for (std::size_t begin = path.find('/'); begin < path.size();) {
    const std::size_t end = std::min(path.find('/', ++begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "." || part == "..") return true;
    begin = end;
  }
  return false;
}

std::string content_type_of(const HttpToolDef& tool) {
  for (const auto& [name, value] : tool.headers) {
    if (equals_ignoring_case(name, "content-type")) return value;
  }
  return tool.body && tool.body->is_string() ? "text/plain; charset=utf-8" : "application/json";
}

// How placeholders are encoded in a body that is text.
Encoding encoding_of(const std::string& content_type) {
  std::string type = to_lower(content_type);
  if (type.find("x-www-form-urlencoded") != std::string::npos) return Encoding::url;
  return type.find("json") != std::string::npos ? Encoding::json : Encoding::plain;
}

Task<Result<std::string>> render_body(const HttpToolDef* tool, const json::Object* arguments,
                                      CallSecrets* secrets) {
  if (!tool->body) co_return std::string();
  if (const auto* text = tool->body->if_string()) {
    co_return co_await fill_template(std::string(json::view(*text)), arguments, secrets,
                                     encoding_of(content_type_of(*tool)));
  }
  ERRAND_CO_TRY(auto value, co_await fill_json(*tool->body, arguments, secrets));
  co_return json::write(value);
}

Task<Result<std::string>> render_url(const HttpToolDef* tool, const json::Object* arguments,
                                     CallSecrets* secrets) {
  ERRAND_CO_TRY(auto url, co_await fill_template(tool->url, arguments, secrets, Encoding::url));
  const std::size_t fragment = std::min(url.find('#'), url.size());
  url.resize(fragment);
  if (climbs(url) && !climbs(tool->url)) {
    co_return Error(ErrorCode::invalid_argument,
                    "\".\" and \"..\" cannot be a part of the path of the URL");
  }
  for (const auto& [name, text] : tool->query) {
    auto lone = lone_argument(text);
    if (lone && !find_argument(*arguments, *lone)) continue;
    ERRAND_CO_TRY(auto value, co_await fill_template(text, arguments, secrets, Encoding::plain));
    append(url, url.find('?') == std::string::npos ? "?" : "&", percent_encode(name), "=",
           percent_encode(value));
  }
  if (url.size() > kUrlBytesMax) {
    co_return Error(ErrorCode::invalid_argument, "the arguments make the URL too long");
  }
  co_return url;
}

Task<Result<std::vector<net::Header>>> render_headers(const HttpToolDef* tool,
                                                      const json::Object* arguments,
                                                      CallSecrets* secrets) {
  std::vector<net::Header> out;
  for (const auto& [name, text] : tool->headers) {
    std::string value;
    if (is_sealed(text)) {
      ERRAND_CO_TRY(auto unsealed, co_await secrets->fill(Headers{{name, text}}));
      value = std::move(unsealed.front().second);
    } else {
      ERRAND_CO_TRY(value, co_await fill_template(text, arguments, secrets, Encoding::plain));
    }
    if (!is_line(value)) {
      co_return Error(ErrorCode::invalid_argument,
                      cat("an argument for the header ", name, " has a line break in it"));
    }
    out.push_back({name, std::move(value)});
  }
  co_return out;
}

ToolOutcome failure_of(const Error& error, net::Method method) {
  const bool may_have_effect = !may_follow(method) && (error.code() == ErrorCode::timeout ||
                                                       error.code() == ErrorCode::unavailable ||
                                                       error.code() == ErrorCode::outcome_unknown);
  return failed_outcome(cat("The request failed: ", error.describe(),
                            may_have_effect ? ". It may or may not have taken effect." : ""));
}

// The beginning of a body. Secrets are blotted out before it is cut, so that no secret is cut in
// two.
std::string shown_body(std::string body, const CallSecrets& secrets) {
  const std::string whole = secrets.blot_out(std::move(body));
  std::string text(utf8_prefix(whole, kErrorBodyBytes));
  return text.size() < whole.size() ? cat(text, " [cut]") : text;
}

}  // namespace

Task<Result<RenderedRequest>> render_request(const HttpToolDef* tool, const ToolCall* call,
                                             CallSecrets* secrets) {
  RenderedRequest out;
  out.request.method = tool->method;
  ERRAND_CO_TRY(out.request.url, co_await render_url(tool, &call->arguments, secrets));
  ERRAND_CO_TRY(out.request.headers, co_await render_headers(tool, &call->arguments, secrets));
  ERRAND_CO_TRY(out.request.body, co_await render_body(tool, &call->arguments, secrets));
  if (tool->body && net::find_header(out.request.headers, "content-type").empty()) {
    out.request.headers.push_back({"Content-Type", content_type_of(*tool)});
  }
  if (net::find_header(out.request.headers, "accept").empty()) {
    out.request.headers.push_back({"Accept", "application/json, text/*;q=0.9, */*;q=0.1"});
  }
  if (net::find_header(out.request.headers, "user-agent").empty()) {
    out.request.headers.push_back({"User-Agent", cat("errand/", version())});
  }
  out.request.headers.push_back({"Idempotency-Key", call->id.str()});
  out.request.redirects = net::Redirects::shown;
  out.request.resend = tool->annotations.read_only || tool->annotations.idempotent
                           ? net::Resend::once
                           : net::Resend::never;
  out.shown_url = secrets->blot_out(out.request.url);
  co_return out;
}

HttpTool::HttpTool(net::HttpClient& client, NamedRecords& tools, Principal who, ToolDecl binding)
    : client_(client), tools_(tools), who_(std::move(who)), decl_(std::move(binding)) {}

Task<Result<HttpToolDef>> HttpTool::definition() const {
  const auto version = parse_integer<std::int64_t>(decl_.origin.version).value_or(0);
  ERRAND_CO_TRY(auto record,
                co_await tools_.find_version(who_.workspace, decl_.origin.upstream, version));
  ERRAND_CO_TRY(auto body, json::parse(record.body));
  co_return parse_http_tool(body, record.name);
}

Task<ToolOutcome> HttpTool::invoke(ToolCall call, ToolContext context) {
  auto tool = co_await definition();
  if (!tool && tool.error().code() == ErrorCode::not_found) {
    co_return failed_outcome("This tool was deleted, and cannot be called any more.");
  }
  if (!tool) co_return failed_outcome(cat("The tool cannot be read: ", tool.error().describe()));
  CallSecrets none(nullptr, who_.workspace);
  CallSecrets* secrets = context.secrets ? context.secrets : &none;
  auto rendered = co_await render_request(&*tool, &call, secrets);
  if (!rendered) co_return failed_outcome(rendered.error().describe());
  if (context.who.trace) {
    rendered->request.headers.push_back({"traceparent", to_traceparent(*context.who.trace)});
  }
  auto answer = co_await send(std::move(*rendered), context.deadline);
  if (!answer) co_return failure_of(answer.error(), tool->method);
  co_return to_outcome(*tool, std::move(*answer), *secrets);
}

Task<Result<HttpTool::Answer>> HttpTool::send(RenderedRequest rendered, SteadyTime deadline) {
  net::ClientRequest& request = rendered.request;
  const SteadyTime own =
      std::chrono::steady_clock::now() + decl_.annotations.timeout.value_or(kHttpToolTimeout);
  for (int redirects = 0;; ++redirects) {
    ERRAND_CO_TRY(net::Url here, net::parse_url(request.url));
    auto left = std::chrono::duration_cast<milliseconds>(std::min(own, deadline) -
                                                         std::chrono::steady_clock::now());
    left = std::max(left, milliseconds(1));
    request.timeouts = {.first_byte = left, .idle = left, .total = left};
    auto stream = co_await client_.open(request);
    if (!stream) co_return std::move(stream).error();
    const std::string location(net::find_header((*stream)->headers(), "Location"));
    const bool leads_on = is_redirect((*stream)->status()) && !location.empty();
    if (!leads_on || !may_follow(request.method)) {
      co_return co_await read_answer(std::move(*stream));
    }
    if (redirects == kRedirectsMax) {
      co_return Error(ErrorCode::unavailable,
                      cat("the server redirects more than ", kRedirectsMax, " times"));
    }
    auto next = net::resolve_url(here, location);
    if (!next) {
      co_return Error(ErrorCode::unsupported, "the server redirects to something that is not HTTP");
    }
    ERRAND_CO_TRY(net::Url there, net::parse_url(*next));
    if (!net::is_same_origin(here, there)) {
      // Keys must go only to the host that the tool names.
      request.headers = {{"User-Agent", cat("errand/", version())}, {"Accept", "*/*"}};
    }
    request.url = std::move(*next);
  }
}

Task<Result<HttpTool::Answer>> HttpTool::read_answer(std::unique_ptr<net::ClientStream> stream) {
  Answer answer{.status = stream->status(),
                .content_type = std::string(net::find_header(stream->headers(), "Content-Type"))};
  for (;;) {
    Result<std::string> piece = co_await stream->read();
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return answer;
    answer.body += *piece;
    if (answer.body.size() > kAnswerBytesMax) {
      answer.body.resize(kAnswerBytesMax);
      answer.is_cut = true;
      co_return answer;
    }
  }
}

ToolOutcome HttpTool::to_outcome(const HttpToolDef& tool, Answer answer,
                                 const CallSecrets& secrets) {
  if (answer.status < 200 || answer.status > 299) {
    return failed_outcome(cat("The server answered with the status ", answer.status, ".",
                              answer.body.empty() ? "" : "\n", shown_body(answer.body, secrets)));
  }
  if (!tool.result) {
    answer.body = secrets.blot_out(std::move(answer.body));
    if (answer.is_cut) append(answer.body, "\n[the answer is too large: its end is missing]");
    return text_outcome(std::move(answer.body));
  }
  if (answer.is_cut) {
    return failed_outcome(
        cat("The answer is larger than ", kAnswerBytesMax, " bytes, and cannot be read."));
  }
  auto value = json::parse(answer.body, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                         .values_max = json::kStrangersValuesMax});
  if (!value)
    return failed_outcome(cat("The answer is not JSON:\n", shown_body(answer.body, secrets)));
  const json::Value* found = json::find_pointer(*value, *tool.result);
  if (!found) {
    return failed_outcome(
        cat("The answer has nothing at ", *tool.result, ":\n", shown_body(answer.body, secrets)));
  }
  if (const auto* text = found->if_string()) return text_outcome(std::string(json::view(*text)));
  ToolOutcome outcome;
  outcome.content.emplace_back(JsonContent{*found});
  return outcome;
}

}  // namespace errand
