#include "sdk/client/program_tools.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/bridge/public_tool.hpp"

namespace errand::sdk {
namespace {

constexpr char kMark = '#';  // not allowed in the name of a tool

std::string_view name_of(std::string_view key) {
  return key.substr(0, key.find(kMark));
}

bool says_the_same(const ToolDecl& a, const ToolDecl& b) {
  return json::write(to_json(a)) == json::write(to_json(b));
}

}  // namespace

// Stands for a tool that is not registered yet.
class ProgramTools::Absent final : public Tool {
 public:
  Absent(ProgramTools& tools, ToolDecl decl, std::string key)
      : tools_(tools), decl_(std::move(decl)), key_(std::move(key)), bell_(tools.home_) {}

  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    struct Listed {
      std::set<Absent*>& all;
      Absent* me;
      ~Listed() { all.erase(me); }
    };
    tools_.absent_.insert(this);
    Listed listed{tools_.absent_, this};
    if (context.progress) {
      context.progress->report(
          {.message = cat("waits until this program registers the tool ", decl_.name)});
    }
    ToolPtr found = tools_.find(key_);
    while (!found) {
      co_await bell_.wait();
      found = tools_.find(key_);
    }
    co_return co_await found->invoke(std::move(call), context);
  }

  void look_again() { bell_.notify(); }
  bool is_there() const { return tools_.find(key_) != nullptr; }

 private:
  ProgramTools& tools_;
  const ToolDecl decl_;
  const std::string key_;
  Wakeup bell_;
};

ProgramTools::ProgramTools(Executor home, std::string process, Absence absence)
    : home_(std::move(home)), process_(std::move(process)), absence_(absence) {}

void ProgramTools::add(ToolPtr tool) {
  std::string name = tool->decl().name;
  book_->entries[std::move(name)].tool = std::move(tool);
  announce();
}

void ProgramTools::announce() {
  for (Absent* absent : absent_) absent->look_again();
}

// A key stands for one declaration, because engines remember the declaration of a key.
std::string ProgramTools::key_for(const ToolPtr& tool) {
  const std::string& name = tool->decl().name;
  for (auto known = book_->entries.lower_bound(name);
       known != book_->entries.end() && name_of(known->first) == name; ++known) {
    if (is_same_tool(*known->second.tool, *tool)) return known->first;
  }
  auto plain = book_->entries.find(name);
  bool is_free =
      plain == book_->entries.end() ||
      (plain->second.runs == 0 && says_the_same(plain->second.tool->decl(), tool->decl()));
  if (is_free) return name;
  return cat(name, kMark, process_, "-", ++last_number_);
}

// Keeps the tools of a run. Plain names stay known after the run, for runs of an earlier process.
struct ProgramTools::Lease {
  std::shared_ptr<Book> book;
  std::vector<std::string> keys = {};

  explicit Lease(std::shared_ptr<Book> of) : book(std::move(of)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    for (const std::string& key : keys) {
      auto entry = book->entries.find(key);
      bool is_over = --entry->second.runs == 0 && key.find(kMark) != std::string::npos;
      if (is_over) book->entries.erase(entry);
    }
  }
};

LentTools ProgramTools::lend(const std::vector<ToolPtr>& tools) {
  auto lease = std::make_shared<Lease>(book_);
  LentTools lent{.lease = lease};
  for (const ToolPtr& tool : tools) {
    std::string key = key_for(tool);
    Entry& entry = book_->entries[key];
    if (entry.runs == 0) entry.tool = tool;
    ++entry.runs;
    lease->keys.push_back(key);
    lent.refs.emplace_back(HostTool{.name = std::move(key)});
  }
  announce();
  return lent;
}

std::vector<std::string> ProgramTools::missing() const {
  std::set<std::string> names;
  for (const Absent* absent : absent_) {
    if (!absent->is_there()) names.insert(absent->decl().name);
  }
  return {names.begin(), names.end()};
}

ToolPtr ProgramTools::find(std::string_view key) const {
  for (std::string_view wanted : {key, name_of(key)}) {
    auto known = book_->entries.find(wanted);
    if (known != book_->entries.end()) return known->second.tool;
  }
  return nullptr;
}

Result<std::vector<ToolDecl>> ProgramTools::bind(const ToolRef& ref, const Principal&) {
  const auto* host = std::get_if<HostTool>(&ref);
  if (!host) return std::vector<ToolDecl>();
  ToolPtr tool = find(host->name);
  if (!tool) {
    return Error(ErrorCode::invalid_argument, cat("the program has no tool ", name_of(host->name)));
  }
  ToolDecl decl = tool->decl();
  // The tool is found by its key, and not by its name on a server behind it.
  decl.origin.upstream = decl.name == host->name ? "" : host->name;
  return std::vector<ToolDecl>{std::move(decl)};
}

ToolPtr ProgramTools::open(const ToolDecl& binding, const ToolRef&, const Principal&) {
  std::string key = binding.origin.upstream.empty() ? binding.name : binding.origin.upstream;
  ToolPtr tool = find(key);
  if (tool || absence_ == Absence::fails) return tool;
  return std::make_shared<Absent>(*this, binding, std::move(key));
}

}  // namespace errand::sdk
