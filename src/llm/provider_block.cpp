#include "llm/provider_block.hpp"

#include "json/write.hpp"

namespace errand::llm {
namespace {

std::string opening(const BlockOrigin& origin) {
  std::string out = "{\"provider\":";
  json::write_string(out, origin.provider);
  out += ",\"model\":";
  json::write_string(out, origin.model);
  out += ",\"block\":";
  return out;
}

}  // namespace

std::string tag_block(const BlockOrigin& origin, std::string_view block) {
  std::string out = opening(origin);
  out += block;
  out += '}';
  return out;
}

std::optional<std::vector<std::string_view>> own_blocks(const BlockOrigin& origin,
                                                        const Message& message) {
  if (message.provider_blocks.empty()) return {};
  std::string start = opening(origin);
  std::vector<std::string_view> out;
  for (std::string_view tagged : message.provider_blocks) {
    if (!tagged.starts_with(start) || !tagged.ends_with('}')) return {};
    out.push_back(tagged.substr(start.size(), tagged.size() - start.size() - 1));
  }
  return out;
}

}  // namespace errand::llm
