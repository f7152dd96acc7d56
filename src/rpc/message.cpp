#include "rpc/message.hpp"

#include <limits>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::rpc {
namespace {

Malformed malformed(Malformed::Kind kind, std::optional<Id> id, std::int64_t error,
                    std::string message) {
  return {
      .kind = kind, .id = std::move(id), .error = {.code = error, .message = std::move(message)}};
}

Malformed bad_request(std::optional<Id> id, std::string message) {
  return malformed(Malformed::Kind::request, std::move(id), code::kInvalidRequest,
                   std::move(message));
}

std::optional<Id> id_of(const json::Object& message) {
  const json::Value* value = message.if_contains("id");
  return value ? parse_id(*value) : std::nullopt;
}

Incoming read_call(json::Object& message) {
  std::optional<Id> id = id_of(message);
  const json::Value& method = message.at("method");
  if (!method.is_string()) return bad_request(std::move(id), "\"method\" must be a string");
  if (message.contains("id") && !id)
    return bad_request({}, "\"id\" must be a string or an integer");
  json::Object params;
  if (json::Value* given = message.if_contains("params"); given && !given->is_null()) {
    if (!given->is_object()) {
      return malformed(Malformed::Kind::request, std::move(id), code::kInvalidParams,
                       "\"params\" must be an object");
    }
    params = std::move(given->as_object());
  }
  std::string name(json::view(method.as_string()));
  if (!id) return Notification{.method = std::move(name), .params = std::move(params)};
  return Request{.id = std::move(*id), .method = std::move(name), .params = std::move(params)};
}

Incoming read_response(json::Object& message) {
  std::optional<Id> id = id_of(message);
  json::Value* result = message.if_contains("result");
  json::Value* error = message.if_contains("error");
  auto refuse = [&](std::string what) {
    return malformed(Malformed::Kind::response, id, code::kInvalidRequest, std::move(what));
  };
  if (result && error) return refuse("it has both a result and an error");
  if (result && !id) return refuse("it has a result and no id");
  if (result) return Response{.id = std::move(id), .answer = std::move(*result)};
  const json::Object* about = error->if_object();
  auto number = json::integer_at(about, "code");
  if (!number) return refuse("its error has no code");
  RpcError failure{.code = *number, .message = std::string(json::text_at(about, "message"))};
  if (const json::Value* data = about->if_contains("data")) failure.data = *data;
  return Response{.id = std::move(id), .answer = std::move(failure)};
}

Incoming read_one(json::Value& value) {
  json::Object* message = value.if_object();
  if (!message) {
    return bad_request({}, cat("a message must be an object, not ", json::kind_name(value)));
  }
  bool is_response =
      !message->contains("method") && (message->contains("result") || message->contains("error"));
  if (json::text_at(message, "jsonrpc") != "2.0") {
    auto kind = is_response ? Malformed::Kind::response : Malformed::Kind::request;
    return malformed(kind, id_of(*message), code::kInvalidRequest, "\"jsonrpc\" must be \"2.0\"");
  }
  if (message->contains("method")) return read_call(*message);
  if (is_response) return read_response(*message);
  return bad_request(id_of(*message), "a message must have a method, a result or an error");
}

template <class F>
std::string write_message(F fill) {
  constexpr std::size_t kUsualBytes = 512;
  std::string out;  // most messages need not grow as they are written
  out.reserve(kUsualBytes);
  json::ObjectWriter writer(out);
  writer.field("jsonrpc", "2.0");
  fill(writer);
  writer.end();
  return out;
}

// The id at the start of `text`; anything behind the id is ignored.
std::optional<Id> read_leading_id(std::string_view text) {
  auto end = text.find_first_of(",}");
  if (end == std::string_view::npos) return {};
  auto value = json::parse(trim(text.substr(0, end)));
  return value ? parse_id(*value) : std::nullopt;
}

}  // namespace

std::string to_string(const Id& id) {
  const auto* number = std::get_if<std::int64_t>(&id);
  return number ? std::to_string(*number) : std::get<std::string>(id);
}

json::Value to_json(const Id& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return *number;
  return json::Value(std::get<std::string>(id));
}

std::optional<Id> parse_id(const json::Value& value) {
  if (value.is_int64()) return value.as_int64();
  if (value.is_string()) return std::string(json::view(value.as_string()));
  return {};
}

Result<std::vector<Incoming>> read_messages(std::string_view text, Batches batches) {
  std::vector<Incoming> out;
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  if (!value && value.error().reason() == "too_complex") return std::move(value).error();
  if (!value) {
    out.emplace_back(
        malformed(Malformed::Kind::request, {}, code::kParseError, value.error().message()));
    return out;
  }
  json::Array* batch = value->if_array();
  if (!batch || batches == Batches::refused || batch->empty()) {
    out.push_back(read_one(*value));
    return out;
  }
  if (batch->size() > kBatchMax) {
    out.emplace_back(bad_request({}, cat("a batch has at most ", kBatchMax, " messages")));
    return out;
  }
  for (json::Value& one : *batch) out.push_back(read_one(one));
  return out;
}

std::string write(const Request& request) {
  return write_message([&](json::ObjectWriter& out) {
    out.field("id", to_json(request.id)).field("method", request.method);
    if (!request.params.empty()) out.field("params", request.params);
  });
}

std::string write(const Notification& notification) {
  return write_message([&](json::ObjectWriter& out) {
    out.field("method", notification.method);
    if (!notification.params.empty()) out.field("params", notification.params);
  });
}

std::string write(const Response& response) {
  return write_message([&](json::ObjectWriter& out) {
    out.field("id", response.id ? to_json(*response.id) : json::Value());
    if (const auto* result = std::get_if<json::Value>(&response.answer)) {
      out.field("result", *result);
      return;
    }
    const RpcError& error = std::get<RpcError>(response.answer);
    json::Object about{{"code", error.code}, {"message", error.message}};
    if (error.data) about["data"] = *error.data;
    out.field("error", about);
  });
}

std::optional<Id> find_response_id(std::string_view head, std::string_view tail) {
  constexpr std::string_view kKey = "\"id\":";
  // Before the first nested value, a key is certain to belong to the message itself.
  auto first = head.find(kKey);
  auto nested = head.find_first_of("{[", 1);
  if (first < nested) {
    if (auto id = read_leading_id(head.substr(first + kKey.size()))) return id;
  }
  auto last = tail.rfind(kKey);
  if (last == std::string_view::npos || last == 0 || tail[last - 1] != ',') return {};
  std::string_view rest = trim(tail.substr(last + kKey.size()));
  // The id must be the last member of the outermost object.
  if (rest.find('}') != rest.size() - 1 || rest.find(',') != std::string_view::npos) return {};
  return read_leading_id(rest);
}

}  // namespace errand::rpc
