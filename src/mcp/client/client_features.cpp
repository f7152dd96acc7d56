#include "mcp/client/client_features.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::mcp {
namespace {

Error not_offered() {
  return {ErrorCode::unsupported, "this client does not support the request"};
}

rpc::Answer refused(const Error& error) {
  std::int64_t code = rpc::code::kInternalError;
  if (error.code() == ErrorCode::invalid_argument) code = rpc::code::kInvalidParams;
  if (error.code() == ErrorCode::unsupported) code = rpc::code::kMethodNotFound;
  return rpc::RpcError{.code = code, .message = error.describe()};
}

template <class T>
rpc::Answer to_answer(const Result<T>& result) {
  if (!result) return refused(result.error());
  return json::Value(to_json(*result));
}

}  // namespace

Task<Result<std::vector<Root>>> ClientFeatures::roots() {
  co_return not_offered();
}

Task<Result<CreateMessageResult>> ClientFeatures::create_message(CreateMessageParams /*params*/) {
  co_return not_offered();
}

Task<Result<ElicitResult>> ClientFeatures::elicit(ElicitParams /*params*/) {
  co_return not_offered();
}

Task<rpc::Answer> answer_request(ClientFeatures* features, std::string method,
                                 json::Object params) {
  if (method == "ping") co_return rpc::Answer(json::Value(json::Object()));
  ClientCapabilities offered = features ? features->offered() : ClientCapabilities{};
  if (method == "roots/list" && offered.roots) {
    auto roots = co_await features->roots();
    co_return to_answer(roots);
  }
  if (method == "sampling/createMessage" && offered.sampling) {
    auto wanted = parse_create_message(params);
    if (!wanted) co_return refused(wanted.error());
    auto message = co_await features->create_message(std::move(*wanted));
    co_return to_answer(message);
  }
  if (method == "elicitation/create" && offered.elicitation) {
    auto wanted = parse_elicit(params);
    if (!wanted) co_return refused(wanted.error());
    auto elicited = co_await features->elicit(std::move(*wanted));
    co_return to_answer(elicited);
  }
  co_return rpc::Answer(
      rpc::RpcError{.code = rpc::code::kMethodNotFound,
                    .message = cat(utf8_prefix(method, 100), " is not supported")});
}

}  // namespace errand::mcp
