#include "mcp/tool_result.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::mcp {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kTextShareMin = 256;  // a shorter piece of a text is not worth keeping

struct SizeOf {
  std::size_t operator()(const TextContent& one) const { return one.text.size(); }
  std::size_t operator()(const ImageContent& one) const { return one.base64.size(); }
  std::size_t operator()(const AudioContent& one) const { return one.base64.size(); }
  std::size_t operator()(const ResourceLink& one) const {
    return one.uri.size() + one.name.size() + one.title.size() + one.description.size();
  }
  std::size_t operator()(const EmbeddedResource& one) const {
    const auto* text = std::get_if<TextBody>(&one.body);
    return one.uri.size() + (text ? text->text.size() : std::get<BlobBody>(one.body).base64.size());
  }
  std::size_t operator()(const UnknownContent& one) const { return one.type.size(); }
};

// The text of a content that may be shortened; null if the content may not.
std::string* text_of(Content& content) {
  if (auto* text = std::get_if<TextContent>(&content)) return &text->text;
  auto* resource = std::get_if<EmbeddedResource>(&content);
  auto* body = resource ? std::get_if<TextBody>(&resource->body) : nullptr;
  return body ? &body->text : nullptr;
}

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

// FNV-1a, to keep names apart that are the same after they are cut.
std::string short_hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::string out;
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash >> shift) & 15U];
  return out;
}

std::string fit(const std::string& name, std::string_view mark) {
  return cat(name.substr(0, kNameBytesMax - mark.size() - 1), "_", mark);
}

}  // namespace

void cut_result(CallToolResult& result, std::size_t bytes_max) {
  std::size_t left = bytes_max;
  std::size_t cut = 0;
  std::vector<Content> kept;
  for (Content& one : result.content) {
    std::size_t size = std::visit(SizeOf{}, one);
    if (size > left) {
      std::string* text = left >= kTextShareMin ? text_of(one) : nullptr;
      cut += size - (text ? left : 0);
      if (!text) continue;
      *text = utf8_prefix(*text, left);
      size = left;
    }
    left -= size;
    kept.push_back(std::move(one));
  }
  if (result.structured_content) {
    std::size_t size = json::write(*result.structured_content).size();
    if (size > left) {
      result.structured_content.reset();
      cut += size;
    }
  }
  result.content = std::move(kept);
  if (cut == 0) return;
  result.content.emplace_back(TextContent{
      cat("[The tool's result is larger than ", bytes_max, " bytes. ", cut, " bytes were cut.]")});
}

std::vector<std::string> vendor_names(std::string_view prefix, const std::vector<Tool>& tools) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Tool& tool : tools) {
    std::string whole = cat(prefix, "_", tool.name);
    std::string name = whole;
    for (char& c : name) c = is_name_char(c) ? c : '_';
    if (name.size() > kNameBytesMax) name = fit(name, short_hash(whole));
    const std::string first = name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = fit(first, std::to_string(number));
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace errand::mcp
