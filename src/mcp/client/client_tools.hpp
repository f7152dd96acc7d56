#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mcp/client/client.hpp"
#include "tool/tool.hpp"

namespace errand::mcp {

// A server's tools as a model sees them, by the server's names and in its order, with schemas that
// can be used (see usable_schemas). Made on the pool. unavailable: it takes no more calls.
Task<Result<std::vector<ToolDecl>>> decls_of(SchemaWork work,
                                             std::shared_ptr<const std::vector<Tool>> tools);

// Who makes a call. What a server asks in the middle of a call is answered by runs only, and only
// clients that are for runs offer that to servers.
enum class Caller : std::uint8_t { run, other };

// The client for one call, which is made with these secrets (null: there are none). An error is
// what the model is told.
using FindClient = std::function<Task<Result<std::shared_ptr<Client>>>(CallSecrets*, Caller)>;

// How long a call may take in all, and without a sign of life, if nobody says otherwise.
constexpr milliseconds kCallTimeMax{600'000};
constexpr milliseconds kCallSilenceMax = kHostToolTimeout;

// The member of `_meta` that holds the id of a call, the same on every attempt.
constexpr std::string_view kIdempotencyKey = "errand/idempotencyKey";

// The tool of a declaration that decl_of has made; its calls go to the server. `silence_max` is how
// long a call may take without progress.
ToolPtr make_tool(FindClient find, ToolDecl decl, milliseconds silence_max = kCallSilenceMax);
ToolPtr make_tool(std::shared_ptr<Client> client, ToolDecl decl);

}  // namespace errand::mcp
