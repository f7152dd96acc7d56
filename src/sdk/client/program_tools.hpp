#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "async/wakeup.hpp"
#include "sdk/client/backend.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// The tools of an embedding program: those that it has registered for good, and those that it gave
// to runs. Two tools of a name that runs use at the same time have keys of their own, by which
// journals know them. A call whose tool is not there waits for it, or fails. Lives on one home.
class ProgramTools final : public ToolSource {
 public:
  // What happens to a call whose tool is not registered.
  enum class Absence { waits, fails };

  // `process` keeps the keys of this process apart from those of other processes.
  ProgramTools(Executor home, std::string process, Absence absence = Absence::waits);

  // Registers a tool for good, in place of one of the same name.
  void add(ToolPtr tool);
  // For a run, which holds the lease.
  LentTools lend(const std::vector<ToolPtr>& tools);
  // The names of tools that calls wait for.
  std::vector<std::string> missing() const;

  Result<std::vector<ToolDecl>> bind(const ToolRef& ref, const Principal& who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;

 private:
  class Absent;
  struct Entry {
    ToolPtr tool;
    int runs = 0;  // that use it
  };
  struct Book {
    std::map<std::string, Entry, std::less<>> entries;
  };

  struct Lease;
  std::string key_for(const ToolPtr& tool);
  ToolPtr find(std::string_view key) const;
  void announce();

  const Executor home_;
  const std::string process_;
  const Absence absence_;
  const std::shared_ptr<Book> book_ = std::make_shared<Book>();  // leases outlive this
  std::size_t last_number_ = 0;
  std::set<Absent*> absent_;  // tools that calls wait for
};

}  // namespace errand::sdk
