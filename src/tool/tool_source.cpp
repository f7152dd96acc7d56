#include "tool/tool_source.hpp"

#include <set>
#include <utility>

#include "base/close_names.hpp"
#include "base/text.hpp"

namespace errand {
namespace {

constexpr std::string_view kOwnPlugins = "@errand/";

// The name of a tool, and whether the ref can only mean a tool of this source.
struct Wanted {
  std::string_view name;
  bool is_ours = true;
};

std::optional<Wanted> wanted_by(const ToolRef& ref) {
  if (const auto* host = std::get_if<HostTool>(&ref)) return Wanted{.name = host->name};
  const auto* plugin = std::get_if<PluginTool>(&ref);
  if (!plugin) return {};
  std::string_view name = plugin->name;
  if (name.starts_with(kOwnPlugins)) return Wanted{.name = name.substr(kOwnPlugins.size())};
  return Wanted{.name = name, .is_ours = false};
}

std::vector<ToolDecl> stamped(std::vector<ToolDecl> tools, const std::string& kind,
                              const std::string& source) {
  for (ToolDecl& tool : tools) {
    tool.site = ToolSite::host;
    tool.kind = kind;
    tool.origin.source = source;
  }
  return tools;
}

}  // namespace

void ToolSources::add(std::string id, const std::vector<std::string>& kinds, ToolSource& source) {
  for (const std::string& kind : kinds) ids_by_kind_[kind] = id;
  by_id_[std::move(id)] = &source;
}

void ToolSources::add_remote(std::string id, const std::vector<std::string>& kinds,
                             RemoteToolSource& source) {
  for (const std::string& kind : kinds) remote_by_kind_[kind] = &source;
  add(std::move(id), kinds, source);
}

void ToolSources::add_stored(std::string id, const std::vector<std::string>& kinds,
                             StoredToolSource& source) {
  for (const std::string& kind : kinds) stored_by_kind_[kind] = &source;
  add(std::move(id), kinds, source);
}

bool ToolSources::is_stored(const ToolRef& ref) const {
  return stored_by_kind_.contains(kind_of(ref));
}

bool ToolSources::is_remote(const ToolRef& ref) const {
  return remote_by_kind_.contains(kind_of(ref));
}

Result<std::vector<ToolDecl>> ToolSources::bind(const ToolRef& ref, const Principal& who) const {
  auto id = ids_by_kind_.find(kind_of(ref));
  if (id == ids_by_kind_.end()) return std::vector<ToolDecl>();
  ERRAND_TRY(auto tools, by_id_.find(id->second)->second->bind(ref, who));
  return stamped(std::move(tools), id->first, id->second);
}

Task<Result<std::vector<ToolDecl>>> ToolSources::ask(ToolRef ref, Principal who) const {
  auto source = remote_by_kind_.find(kind_of(ref));
  if (source == remote_by_kind_.end()) co_return std::vector<ToolDecl>();
  const std::string kind = source->first;
  ERRAND_CO_TRY(auto tools, co_await source->second->ask(std::move(ref), std::move(who)));
  co_return stamped(std::move(tools), kind, ids_by_kind_.find(kind)->second);
}

Task<Result<std::vector<ToolDecl>>> ToolSources::look_up(ToolRef ref, Principal who) const {
  auto source = stored_by_kind_.find(kind_of(ref));
  if (source == stored_by_kind_.end()) co_return std::vector<ToolDecl>();
  const std::string kind = source->first;
  ERRAND_CO_TRY(auto tools, co_await source->second->look_up(std::move(ref), std::move(who)));
  co_return stamped(std::move(tools), kind, ids_by_kind_.find(kind)->second);
}

ToolPtr ToolSources::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) const {
  auto source = by_id_.find(binding.origin.source);
  return source == by_id_.end() ? nullptr : source->second->open(binding, ref, who);
}

Task<Result<std::vector<ToolPtr>>> ToolSource::offered(Principal /*who*/) {
  co_return std::vector<ToolPtr>();
}

Task<Result<ToolPtr>> ToolSource::offered_tool(Principal who, std::string name) {
  ERRAND_CO_TRY(auto tools, co_await offered(std::move(who)));
  for (ToolPtr& tool : tools) {
    if (tool->decl().name == name) co_return std::move(tool);
  }
  co_return ToolPtr();
}

Task<Result<ToolPtr>> ToolSources::offered_tool(Principal who, std::string name) const {
  for (const auto& [id, source] : by_id_) {
    ERRAND_CO_TRY(auto tool, co_await source->offered_tool(who, name));
    if (tool) co_return tool;
  }
  co_return ToolPtr();
}

Task<Result<ToolPtr>> FixedTools::offered_tool(Principal /*who*/, std::string name) {
  co_return find(name);
}

Task<Result<std::vector<ToolOffer>>> ToolSource::offers(Principal who) {
  ERRAND_CO_TRY(auto tools, co_await offered(std::move(who)));
  std::vector<ToolOffer> out;
  if (!tools.empty()) out.push_back({.tools = std::move(tools)});
  co_return out;
}

Task<Result<std::vector<ToolOffer>>> ToolSources::offers(Principal who) const {
  std::vector<ToolOffer> all;
  std::set<std::string> names;
  for (const auto& [id, source] : by_id_) {
    ERRAND_CO_TRY(auto offers, co_await source->offers(who));
    for (ToolOffer& offer : offers) {
      offer.source = id;
      std::erase_if(offer.tools, [&names](const ToolPtr& tool) {
        return !names.insert(tool->decl().name).second;
      });
      all.push_back(std::move(offer));
    }
  }
  co_return all;
}

Task<Result<std::vector<ToolPtr>>> ToolSources::offered(Principal who) const {
  std::vector<ToolPtr> all;
  std::set<std::string> names;
  for (const auto& [id, source] : by_id_) {
    ERRAND_CO_TRY(auto tools, co_await source->offered(who));
    for (ToolPtr& tool : tools) {
      if (names.insert(tool->decl().name).second) all.push_back(std::move(tool));
    }
  }
  co_return all;
}

Task<Result<std::vector<ToolPtr>>> FixedTools::offered(Principal /*who*/) {
  co_return tools_;
}

FixedTools::FixedTools(std::vector<ToolPtr> tools) : tools_(std::move(tools)) {}

ToolPtr FixedTools::find(std::string_view name) const {
  for (const ToolPtr& tool : tools_) {
    if (tool->decl().name == name) return tool;
  }
  return nullptr;
}

Result<std::vector<ToolDecl>> FixedTools::bind(const ToolRef& ref, const Principal&) {
  auto wanted = wanted_by(ref);
  if (!wanted) return std::vector<ToolDecl>();
  if (ToolPtr tool = find(wanted->name)) {
    ToolDecl decl = tool->decl();
    decl.origin = {};  // the tool is found by its name, wherever it passes on its calls
    return std::vector<ToolDecl>{std::move(decl)};
  }
  if (!wanted->is_ours) return std::vector<ToolDecl>();
  std::vector<std::string_view> names;
  for (const ToolPtr& tool : tools_) names.emplace_back(tool->decl().name);
  std::string meant = did_you_mean(wanted->name, names);
  return Error(ErrorCode::invalid_argument,
               cat("there is no tool called \"", utf8_prefix(wanted->name, 80), "\"",
                   meant.empty() ? "" : cat("; ", meant)))
      .pointer("/name")
      .candidates({names.begin(), names.end()});
}

ToolPtr FixedTools::open(const ToolDecl& binding, const ToolRef&, const Principal&) {
  return find(binding.name);
}

}  // namespace errand
