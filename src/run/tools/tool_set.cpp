#include "run/tools/tool_set.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "json/member_text.hpp"
#include "json/write.hpp"

namespace errand {

namespace {

// Line breaks are dropped: they stand only between values, because those in strings are escaped.
void append_on_one_line(std::string& out, std::string_view json) {
  const std::size_t begin = out.size();
  out += json;
  for (char line_break : {'\n', '\r'}) {
    for (std::size_t at = begin; (at = out.find(line_break, at)) != std::string::npos;) {
      out[at] = ' ';
    }
  }
}

// The line with the tools that were bound after the run was created; empty if there is none.
std::string_view later_tools_in(std::string_view journal) {
  constexpr std::string_view kBegin = "{\"entry\":\"tools\",";
  std::size_t begin = journal.starts_with(kBegin) ? 0 : journal.find(cat("\n", kBegin));
  if (begin == std::string_view::npos) return {};
  std::string_view rest = journal.substr(begin == 0 ? 0 : begin + 1);
  return rest.substr(0, rest.find('\n'));
}

// The parts of a journal, or of a piece of one, that hold its tools: their refs and their bindings.
std::array<std::string_view, 3> tools_in(std::string_view journal) {
  std::string_view first = journal.substr(0, journal.find('\n'));
  return {json::member_text(json::member_text(first, "spec"), "tools"),
          json::member_text(first, "bindings"),
          json::member_text(later_tools_in(journal), "bindings")};
}

// Estimates for cache bounds: the memory of the JSON values of a text, and of compiled schemas.
constexpr std::size_t kValueBytesPerTextByte = 16;  // for the smallest values
constexpr std::size_t kCacheBytesMax = kValueBytesPerTextByte * ToolSetCache::kTextBytesMax;

// An estimate, on the high side. It does not change while the set lives.
std::size_t memory_of(const ToolSet& tools) {
  std::size_t bytes = kValueBytesPerTextByte * tools.text.size();
  if (!tools.offered) return bytes;
  for (const ToolDecl& tool : *tools.offered) {
    if (tool.checker) bytes += tool.checker->bytes();
  }
  return bytes;
}

std::string_view hash_in(std::string_view named) {
  std::string_view quoted = json::member_text(named, "sha256");
  return quoted.size() < 2 ? std::string_view() : quoted.substr(1, quoted.size() - 2);
}

}  // namespace

ToolDecls share_decls(std::vector<ToolDecl> decls) {
  return std::make_shared<const std::vector<ToolDecl>>(std::move(decls));
}

ToolSetPtr share_tools(std::vector<ToolRef> refs, std::string text) {
  return std::make_shared<const ToolSet>(
      ToolSet{.refs = std::move(refs), .text = std::move(text), .hash = {}});
}

json::Array to_json(const ToolSet& tools) {
  json::Array out;
  for (const ToolRef& ref : tools.refs) out.push_back(to_json(ref));
  return out;
}

void write(std::string& out, const ToolSet& tools) {
  if (!tools.text.empty()) return append_on_one_line(out, tools.text);
  json::write(out, to_json(tools));
}

std::string bindings_of(const std::vector<ToolDecl>& tools, BoundTools which) {
  std::string out;
  for (const ToolDecl& tool : tools) {
    if (which == BoundTools::of_this_process && tool.site != ToolSite::host) continue;
    out += out.empty() ? "[" : ",";
    json::write(out, binding_json(tool));
  }
  if (!out.empty()) out += "]";
  if (out.empty() && which == BoundTools::all) out = "[]";
  return out;
}

std::vector<std::string> hashes_of_tools(std::string_view journal) {
  std::vector<std::string> hashes;
  for (std::string_view named : tools_in(journal)) {
    if (std::string_view hash = hash_in(named); !hash.empty()) hashes.emplace_back(hash);
  }
  return hashes;
}

void put_tools_back(std::string& journal, std::string_view hash, std::string_view text) {
  std::string_view named;
  for (std::string_view place : tools_in(journal)) {
    if (hash_in(place) == hash) named = place;
  }
  if (named.empty()) return;
  const std::size_t begin = static_cast<std::size_t>(named.data() - journal.data());
  std::string whole = journal.substr(0, begin);
  append_on_one_line(whole, text);
  whole += std::string_view(journal).substr(begin + named.size());
  journal = std::move(whole);
}

ToolSetPtr ToolSetCache::find(std::string_view text) {
  auto known = by_text_.find(text);
  if (known == by_text_.end()) return nullptr;
  sets_.splice(sets_.begin(), sets_, known->second);
  return *known->second;
}

void ToolSetCache::insert(ToolSetPtr tools) {
  const std::string& text = tools->text;
  const std::size_t bytes = memory_of(*tools);
  if (text.empty() || bytes > kCacheBytesMax || by_text_.contains(text)) return;
  bytes_ += bytes;
  sets_.push_front(std::move(tools));
  by_text_.emplace(sets_.front()->text, sets_.begin());
  while (sets_.size() > kSetsMax || bytes_ > kCacheBytesMax) {
    bytes_ -= memory_of(*sets_.back());
    by_text_.erase(sets_.back()->text);
    sets_.pop_back();
  }
}

}  // namespace errand
