#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "run/tools/tool_ref.hpp"
#include "tool/tool.hpp"

namespace errand {

// What one place offers a workspace: the built-in tools, the stored ones, or those of one server.
struct ToolOffer {
  std::string source = {};  // as bindings name it
  std::string server = {};  // of the configuration; empty: the source has no servers
  std::vector<ToolPtr> tools = {};
  std::string why_not = {};  // for people; empty: it answers
};

// Where tools that this process calls come from: built-ins, the embedding program, servers that it
// reaches. A run is bound to its tools once, when it is made; from then on its journal says which
// they are, and calls only open what is bound. Lives on the engine's home and outlives every run.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  // What a ref of a run means here. Empty: the source does not know it, and the ref is offered as
  // unavailable. invalid_argument: the ref is a mistake; the pointer is relative to the ref.
  virtual Result<std::vector<ToolDecl>> bind(const ToolRef& ref, const Principal& who) = 0;
  // The tool of a binding, which came from this ref, for one call. nullptr: it is not there any
  // more.
  virtual ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) = 0;
  // The tools that the workspace has here without naming a server or a client, for those who offer
  // them to others. Always in the same order.
  virtual Task<Result<std::vector<ToolPtr>>> offered(Principal who);
  // The one of them that has this name; nullptr: none has.
  virtual Task<Result<ToolPtr>> offered_tool(Principal who, std::string name);
  // The same, place by place, with those that do not answer.
  virtual Task<Result<std::vector<ToolOffer>>> offers(Principal who);
};

// A source that has to ask somebody what a ref means. Runs bind such refs in their first step, and
// `bind` is not called.
class RemoteToolSource : public ToolSource {
 public:
  // Fails if nobody answers; the ref is then offered as unavailable.
  virtual Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) = 0;
  Result<std::vector<ToolDecl>> bind(const ToolRef&, const Principal&) final {
    return std::vector<ToolDecl>();
  }
};

// A source that keeps what its refs mean in the store. Runs bind such refs while they are made, and
// `bind` is not called.
class StoredToolSource : public ToolSource {
 public:
  // invalid_argument: the ref is a mistake; the pointer is relative to the ref.
  virtual Task<Result<std::vector<ToolDecl>>> look_up(ToolRef ref, Principal who) = 0;
  Result<std::vector<ToolDecl>> bind(const ToolRef&, const Principal&) final {
    return std::vector<ToolDecl>();
  }
};

// The sources of a process, each under the name by which bindings know it, in this process and in
// the next one. They outlive this.
class ToolSources final {
 public:
  // `kinds` are the kinds of refs that the source binds.
  void add(std::string id, const std::vector<std::string>& kinds, ToolSource& source);
  void add_remote(std::string id, const std::vector<std::string>& kinds, RemoteToolSource& source);

  void add_stored(std::string id, const std::vector<std::string>& kinds, StoredToolSource& source);

  // Whether somebody has to be asked what the ref means.
  bool is_remote(const ToolRef& ref) const;
  // Whether the store has to be asked.
  bool is_stored(const ToolRef& ref) const;
  // See ToolSource and RemoteToolSource. They say of each tool which source it is from.
  Result<std::vector<ToolDecl>> bind(const ToolRef& ref, const Principal& who) const;
  Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) const;
  Task<Result<std::vector<ToolDecl>>> look_up(ToolRef ref, Principal who) const;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) const;
  // Of all sources. Of several tools with one name the first is there.
  Task<Result<std::vector<ToolPtr>>> offered(Principal who) const;
  Task<Result<ToolPtr>> offered_tool(Principal who, std::string name) const;
  Task<Result<std::vector<ToolOffer>>> offers(Principal who) const;

 private:
  std::map<std::string, ToolSource*, std::less<>> by_id_;
  std::map<std::string, std::string, std::less<>> ids_by_kind_;
  std::map<std::string, RemoteToolSource*, std::less<>> remote_by_kind_;
  std::map<std::string, StoredToolSource*, std::less<>> stored_by_kind_;
};

// Tools that are there as long as the process is, by their names: those of the embedding program
// (`host` refs), or built-in ones (`mantyx_plugin` refs).
class FixedTools final : public ToolSource {
 public:
  explicit FixedTools(std::vector<ToolPtr> tools);

  Result<std::vector<ToolDecl>> bind(const ToolRef& ref, const Principal& who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;
  Task<Result<std::vector<ToolPtr>>> offered(Principal who) override;
  Task<Result<ToolPtr>> offered_tool(Principal who, std::string name) override;

  // nullptr: none has this name.
  ToolPtr find(std::string_view name) const;
  const std::vector<ToolPtr>& tools() const { return tools_; }

 private:
  const std::vector<ToolPtr> tools_;
};

}  // namespace errand
