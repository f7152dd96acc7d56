#include <unistd.h>

#include <errand/mcp.hpp>
#include <utility>

#include "base/text.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/mcp/mcp_core.hpp"

namespace errand::v1::mcp {
namespace {

std::shared_ptr<sdk::McpOffer> offer_of(ServerOptions options) {
  auto made = sdk::McpOffer::make(std::move(options));
  if (!made) throw sdk::public_error(made.error());
  return *made;
}

void check(const errand::Result<void>& done) {
  if (!done) throw sdk::public_error(done.error());
}

}  // namespace

// ---- Prompts and resources ----------------------------------------------------------------------

PromptResult::PromptResult(std::string text)
    : messages{{.content = TextContent{std::move(text)}}} {}
PromptResult::PromptResult(const char* text) : PromptResult(std::string(text)) {}
PromptResult::PromptResult(std::vector<PromptMessage> all) : messages(std::move(all)) {}

ResourceContents::ResourceContents(std::string text)
    : ResourceContents(ResourceContent{.uri = {}, .text = std::move(text)}) {}
ResourceContents::ResourceContents(const char* text) : ResourceContents(std::string(text)) {}
ResourceContents::ResourceContents(ResourceContent part) : parts{std::move(part)} {}
ResourceContents::ResourceContents(std::vector<ResourceContent> all) : parts(std::move(all)) {}

// ---- HttpServing --------------------------------------------------------------------------------

HttpServing::HttpServing(std::shared_ptr<sdk::McpCore> core, std::string url, std::uint16_t port)
    : core_(std::move(core)), url_(std::move(url)), port_(port) {}
HttpServing::HttpServing(HttpServing&&) noexcept = default;
HttpServing::~HttpServing() {
  stop();
}

void HttpServing::stop() {
  if (core_) core_->close();
  core_.reset();
}

// ---- Server -------------------------------------------------------------------------------------

Server::Server(ServerOptions options) : offer_(offer_of(std::move(options))) {}
Server::Server(Toolkit toolkit) : offer_(offer_of({.toolkits = {std::move(toolkit)}})) {}

const std::string& Server::name() const {
  return offer_->name();
}

void Server::serve_stdio() const {
  serve_stdio(STDIN_FILENO, STDOUT_FILENO);
}

void Server::serve_stdio(int input, int output) const {
  sdk::McpCore core(offer_);
  check(core.serve_stdio(input, output));
}

HttpServing Server::serve_http(HttpOptions options) const {
  auto core = std::make_shared<sdk::McpCore>(offer_);
  auto bound = core->listen(options);
  if (!bound) throw sdk::public_error(bound.error());
  const bool is_v6 = bound->host.find(':') != std::string::npos;
  std::string host = is_v6 ? cat("[", bound->host, "]") : bound->host;
  std::string url = cat("http://", host, ":", bound->port, options.path);
  return {std::move(core), std::move(url), bound->port};
}

void Server::set_toolkits(std::vector<Toolkit> toolkits) const {
  check(offer_->set_toolkits(std::move(toolkits)));
}
void Server::set_prompts(std::vector<Prompt> prompts) const {
  check(offer_->set_prompts(std::move(prompts)));
}
void Server::set_resources(std::vector<Resource> resources,
                           std::vector<ResourceTemplate> templates) const {
  check(offer_->set_resources(std::move(resources), std::move(templates)));
}

void Server::resource_updated(const std::string& uri) const {
  offer_->announce(uri);
}

}  // namespace errand::v1::mcp
