#pragma once

#include <optional>
#include <vector>

#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"
#include "tool/secrets.hpp"

namespace errand {

// Keeps the secrets that a server was asked with out of what it says about its tools: a journal
// keeps that, and a model is told it. A tool whose name holds a secret goes, because it could not
// be called by another name.
void blot_out(std::vector<ToolDecl>& tools, const CallSecrets& secrets);

// The object without the secrets. Words that merely end like a secret begins stay, because they may
// be names that others use. Nothing: without the secrets it is no object any more.
std::optional<json::Object> without_secrets(const json::Object& object, const CallSecrets& secrets);

}  // namespace errand
