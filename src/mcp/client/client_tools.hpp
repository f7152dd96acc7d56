#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mcp/client/client.hpp"
#include "tool/tool.hpp"

namespace errand::mcp {

// A server's tool as a model sees it, under another name. A schema that vendors would refuse is
// replaced by one that takes any object.
ToolDecl decl_of(const Tool& tool, std::string name);

// The client for one call, which is made with these secrets (null: there are none). An error is
// what the model is told.
using FindClient = std::function<Task<Result<std::shared_ptr<Client>>>(CallSecrets*)>;

// The tool of a declaration that decl_of has made; its calls go to the server.
ToolPtr make_tool(FindClient find, ToolDecl decl);
ToolPtr make_tool(std::shared_ptr<Client> client, ToolDecl decl);

}  // namespace errand::mcp
