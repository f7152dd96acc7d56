#include "sdk/mcp/mcp_offer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "sdk/bridge/handler_services.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kStateKeyBytes = 32;

Error nameless(std::string_view what) {
  return {ErrorCode::invalid_argument, cat(what, " needs a name and a handler")};
}

Error twice(std::string_view what, std::string_view name) {
  return {ErrorCode::conflict, cat("two ", what, " are named ", name)};
}

Result<void> add_toolkits(McpOffer::Parts& parts, std::vector<v1::Toolkit> toolkits) {
  parts.toolkits.clear();
  parts.owners.clear();
  for (v1::Toolkit& one : toolkits) {
    auto toolkit = std::make_shared<const v1::Toolkit>(std::move(one));
    for (const v1::Tool& tool : toolkit->tools()) {
      if (!parts.owners.emplace(tool.name(), toolkit).second) return twice("tools", tool.name());
    }
    parts.toolkits.push_back(std::move(toolkit));
  }
  return {};
}

Result<void> add_prompts(McpOffer::Parts& parts, std::vector<v1::mcp::Prompt> prompts) {
  std::set<std::string> names;
  for (const v1::mcp::Prompt& one : prompts) {
    if (one.name.empty() || !one.get) return nameless("a prompt");
    if (!names.insert(one.name).second) return twice("prompts", one.name);
  }
  parts.prompts = std::move(prompts);
  return {};
}

Result<void> add_resources(McpOffer::Parts& parts, std::vector<v1::mcp::Resource> resources,
                           std::vector<v1::mcp::ResourceTemplate> templates) {
  std::set<std::string> uris;
  for (const v1::mcp::Resource& one : resources) {
    if (one.name.empty() || one.uri.empty() || !one.read) return nameless("a resource");
    if (!uris.insert(one.uri).second) return twice("resources", one.uri);
  }
  parts.templates.clear();
  for (v1::mcp::ResourceTemplate& one : templates) {
    if (one.name.empty() || !one.read) return nameless("a template");
    auto pattern = UriTemplate::parse(one.uri_template);
    if (!pattern) {
      return Error(pattern.error().code(), cat(one.uri_template, ": ", pattern.error().message()));
    }
    parts.templates.push_back({.resource = std::move(one), .uris = std::move(*pattern)});
  }
  parts.resources = std::move(resources);
  return {};
}

std::string instructions_of(const std::vector<v1::Toolkit>& toolkits) {
  std::string out;
  for (const v1::Toolkit& toolkit : toolkits) {
    if (!toolkit.description().empty()) append(out, out.empty() ? "" : "\n", toolkit.description());
    for (const std::string& rule : toolkit.rules())
      append(out, out.empty() ? "" : "\n", "- ", rule);
  }
  return out;
}

// What the server tells clients about itself. Members that are left out come from the first
// toolkit.
mcp::ServerOffer about(const v1::mcp::ServerOptions& options) {
  mcp::ServerOffer out{
      .server = {.name = options.name, .version = options.version, .title = options.title},
      .instructions = options.instructions};
  if (!options.toolkits.empty()) {
    const v1::Toolkit& first = options.toolkits.front();
    if (out.server.name.empty()) {
      out.server.name = first.name();
      if (out.server.title.empty() && first.title() != first.name()) {
        out.server.title = first.title();
      }
    }
    if (out.server.version.empty()) out.server.version = first.version();
  }
  if (out.server.version.empty()) out.server.version = "0";
  if (out.instructions.empty()) out.instructions = instructions_of(options.toolkits);
  return out;
}

bool has_completions(const McpOffer::Parts& parts) {
  return std::any_of(parts.prompts.begin(), parts.prompts.end(),
                     [](const auto& one) { return bool(one.complete); }) ||
         std::any_of(parts.templates.begin(), parts.templates.end(),
                     [](const auto& one) { return bool(one.resource.complete); });
}

}  // namespace

McpOffer::McpOffer(mcp::ServerOffer about, const v1::HandlerOptions& handlers,
                   std::string state_key)
    : about_(std::move(about)),
      threads_max_(handlers.threads_max),
      services_(std::make_shared<const HandlerServices>(services_of(handlers))),
      tell_(teller_of(handlers)),
      states_(std::move(state_key)) {}

Result<std::shared_ptr<McpOffer>> McpOffer::make(v1::mcp::ServerOptions options) {
  mcp::ServerOffer told = about(options);
  if (told.server.name.empty()) {
    return Error(ErrorCode::invalid_argument, "a server without a toolkit needs a name");
  }
  if (options.state_key.empty()) options.state_key = crypto::random_hex(kStateKeyBytes);
  std::shared_ptr<McpOffer> made(
      new McpOffer(std::move(told), options.handlers, std::move(options.state_key)));
  if (!options.tools.empty()) {
    options.toolkits.emplace_back(
        v1::ToolkitOptions{.name = made->name(), .tools = std::move(options.tools)});
  }
  ERRAND_CHECK(made->set_toolkits(std::move(options.toolkits)));
  ERRAND_CHECK(made->set_prompts(std::move(options.prompts)));
  ERRAND_CHECK(made->set_resources(std::move(options.resources), std::move(options.templates)));
  return made;
}

McpOffer::PartsPtr McpOffer::parts() const {
  std::lock_guard lock(mutex_);
  return parts_;
}

mcp::ServerOffer McpOffer::offer() const {
  PartsPtr now = parts();
  mcp::ServerOffer out = about_;
  out.tools = true;
  out.prompts = !now->prompts.empty();
  out.resources = !now->resources.empty() || !now->templates.empty();
  out.resource_changes = out.resources;
  out.completions = has_completions(*now);
  out.logging = true;
  return out;
}

void McpOffer::replace(const std::function<void(Parts&)>& change, mcp::ListKind kind) {
  {
    std::lock_guard lock(mutex_);
    auto next = std::make_shared<Parts>(*parts_);
    change(*next);
    parts_ = std::move(next);
  }
  announce(kind);
}

Result<void> McpOffer::set_toolkits(std::vector<v1::Toolkit> toolkits) {
  Parts made;
  ERRAND_CHECK(add_toolkits(made, std::move(toolkits)));
  replace(
      [&made](Parts& parts) {
        parts.toolkits = std::move(made.toolkits);
        parts.owners = std::move(made.owners);
      },
      mcp::ListKind::tools);
  return {};
}

Result<void> McpOffer::set_prompts(std::vector<v1::mcp::Prompt> prompts) {
  Parts made;
  ERRAND_CHECK(add_prompts(made, std::move(prompts)));
  replace([&made](Parts& parts) { parts.prompts = std::move(made.prompts); },
          mcp::ListKind::prompts);
  return {};
}

Result<void> McpOffer::set_resources(std::vector<v1::mcp::Resource> resources,
                                     std::vector<v1::mcp::ResourceTemplate> templates) {
  Parts made;
  ERRAND_CHECK(add_resources(made, std::move(resources), std::move(templates)));
  replace(
      [&made](Parts& parts) {
        parts.resources = std::move(made.resources);
        parts.templates = std::move(made.templates);
      },
      mcp::ListKind::resources);
  return {};
}

void McpOffer::announce(const Change& change) {
  std::lock_guard lock(listeners_->mutex);
  for (const auto& [id, listener] : listeners_->all) listener(change);
}

std::shared_ptr<void> McpOffer::listen(Listener listener) {
  std::lock_guard lock(listeners_->mutex);
  const std::size_t id = ++listeners_->last;
  listeners_->all.emplace(id, std::move(listener));
  return {nullptr, [all = listeners_, id](void*) {
            std::lock_guard lock(all->mutex);
            all->all.erase(id);
          }};
}

}  // namespace errand::sdk
