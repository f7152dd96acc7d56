#include "mcp/client/offered_features.hpp"

#include "base/text.hpp"

namespace errand::mcp {
namespace {

Error no_call() {
  return {ErrorCode::unavailable, "no call is under way that could answer this"};
}

ClientCapabilities with_roots(ClientCapabilities calls, bool has_roots) {
  calls.roots = has_roots;
  return calls;
}

}  // namespace

OfferedFeatures::OfferedFeatures(std::vector<Root> roots, ClientCapabilities calls)
    : roots_(std::move(roots)), offered_(with_roots(calls, !roots_.empty())) {}

Task<Result<std::vector<Root>>> OfferedFeatures::roots() {
  co_return roots_;
}

Task<Result<CreateMessageResult>> OfferedFeatures::create_message(CreateMessageParams /*params*/) {
  co_return no_call();
}

Task<Result<ElicitResult>> OfferedFeatures::elicit(ElicitParams /*params*/) {
  co_return no_call();
}

Root root_of(const std::filesystem::path& folder) {
  std::filesystem::path plain = folder.lexically_normal();
  if (!plain.has_filename()) plain = plain.parent_path();
  Root root{.uri = "file://", .name = plain.filename().string()};
  for (const auto& part : plain.relative_path()) {
    append(root.uri, "/", percent_encode(part.string()));
  }
  if (plain == plain.root_path()) root.uri += '/';
  return root;
}

}  // namespace errand::mcp
