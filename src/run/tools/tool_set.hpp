#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "run/tools/tool_decl.hpp"
#include "run/tools/tool_ref.hpp"

namespace errand {

// Shared, like the sets that they come from.
using ToolDecls = std::shared_ptr<const std::vector<ToolDecl>>;
ToolDecls share_decls(std::vector<ToolDecl> decls);

// The tools that a caller gives a run. Shared, because they may be large and are the same for many
// runs; nobody changes them.
struct ToolSet {
  std::vector<ToolRef> refs;
  std::string text;  // the JSON that the refs were read from; empty if that is not known
  std::string hash;  // SHA-256 of the text in hex, if it is kept beside the journal
  // What the refs offer, with compiled schemas. Null until somebody has compiled them.
  ToolDecls offered = nullptr;
  // What a journal pins of `offered`, and its hash, if it is kept beside the journal.
  std::string bindings = {};
  std::string bindings_hash = {};
  std::vector<std::string> warnings = {};  // about what was sent; see unknown_members()
};
using ToolSetPtr = std::shared_ptr<const ToolSet>;
ToolSetPtr share_tools(std::vector<ToolRef> refs, std::string text = "");

// A text of this size and more is kept beside the journals of the runs that have it, once.
constexpr std::size_t kToolsBesideBytesMin = 4096;

json::Array to_json(const ToolSet& tools);
// Appends the refs as JSON on one line.
void write(std::string& out, const ToolSet& tools);

// The JSON array of what a journal pins of these tools: of those that this process calls, or of all
// of them. Empty if there is nothing to pin.
enum class BoundTools { of_this_process, all };
std::string bindings_of(const std::vector<ToolDecl>& tools,
                        BoundTools which = BoundTools::of_this_process);

// The hashes by which a journal names what is kept beside it of its tools: refs and bindings. Empty
// if the journal holds all of it itself.
std::vector<std::string> hashes_of_tools(std::string_view journal);
// Puts a text in the place of its hash.
void put_tools_back(std::string& journal, std::string_view hash, std::string_view text);

// Sets that callers have sent, by their text, so that one that is sent again need not be read
// again. What was used longest ago is forgotten first. Call on one home.
class ToolSetCache final {
 public:
  static constexpr std::size_t kSetsMax = 256;
  static constexpr std::size_t kTextBytesMax = 2U * 1024 * 1024;  // of all together

  ToolSetPtr find(std::string_view text);
  // A set without a text, or with one that is known, is not kept.
  void insert(ToolSetPtr tools);

  std::size_t size() const { return sets_.size(); }

 private:
  std::list<ToolSetPtr> sets_;  // the one used last is first
  std::unordered_map<std::string_view, std::list<ToolSetPtr>::iterator> by_text_;
  std::size_t bytes_ = 0;
};

}  // namespace errand
