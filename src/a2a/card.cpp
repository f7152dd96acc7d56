// Parses the card of an agent.
#include <utility>

#include "a2a/codec.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "net/url.hpp"

namespace errand::a2a {
namespace {

constexpr std::size_t kSkillsMax = 1000;

std::string card_text(const json::Object* from, std::string_view key) {
  return std::string(json::text_at(from, key));
}

// "1.0" and "1.0.1" are the same version here; empty for an unknown version.
std::optional<Version> version_of(std::string_view text) {
  if (text.starts_with("1.")) return Version::v10;
  if (text.empty() || text.starts_with("0.")) return Version::v03;
  return {};
}

void add_interface(AgentCard& card, std::string_view card_url, std::string_view url,
                   std::optional<Version> version) {
  if (url.empty() || !version) return;
  auto base = net::parse_url(card_url);
  auto absolute = base ? net::resolve_url(*base, url) : std::nullopt;
  if (!absolute) return;
  Interface one{.url = std::move(*absolute), .version = *version};
  for (const Interface& known : card.interfaces) {
    if (known == one) return;
  }
  card.interfaces.push_back(std::move(one));
}

bool is_json_rpc(std::string_view transport) {
  return transport.empty() || equals_ignoring_case(transport, "JSONRPC");
}

// The interfaces of a 1.0 card, in the order that the agent prefers.
void add_supported(AgentCard& card, const json::Object* from, std::string_view card_url) {
  const json::Array* all = json::array_at(from, "supportedInterfaces");
  if (!all) return;
  for (Version wanted : {Version::v10, Version::v03}) {
    for (const json::Value& one : *all) {
      const json::Object* about = one.if_object();
      // Only cards of 1.0 have this list, and some of them do not name the version.
      std::string_view text = json::text_at(about, "protocolVersion");
      auto version = text.empty() ? Version::v10 : version_of(text);
      if (version != wanted || !is_json_rpc(json::text_at(about, "protocolBinding"))) continue;
      add_interface(card, card_url, json::text_at(about, "url"), version);
    }
  }
}

// The interfaces of a 0.3 card.
void add_older(AgentCard& card, const json::Object* from, std::string_view card_url) {
  auto version = version_of(json::text_at(from, "protocolVersion"));
  if (is_json_rpc(json::text_at(from, "preferredTransport"))) {
    add_interface(card, card_url, json::text_at(from, "url"), version);
  }
  const json::Array* others = json::array_at(from, "additionalInterfaces");
  if (!others) return;
  for (const json::Value& one : *others) {
    const json::Object* about = one.if_object();
    if (!is_json_rpc(json::text_at(about, "transport"))) continue;
    add_interface(card, card_url, json::text_at(about, "url"), version);
  }
}

void add_skills(AgentCard& card, const json::Object* from) {
  const json::Array* skills = json::array_at(from, "skills");
  if (!skills) return;
  for (const json::Value& one : *skills) {
    if (card.skills.size() >= kSkillsMax) return;
    const json::Object* about = one.if_object();
    if (!about) continue;
    Skill skill{.id = card_text(about, "id"),
                .name = card_text(about, "name"),
                .description = card_text(about, "description")};
    card.skills.push_back(std::move(skill));
  }
}

}  // namespace

Result<AgentCard> parse_card(const json::Value& value, std::string_view card_url) {
  const json::Object* from = value.if_object();
  AgentCard card{.name = card_text(from, "name"),
                 .description = card_text(from, "description"),
                 .version = card_text(from, "version")};
  if (card.name.empty()) {
    return Error(ErrorCode::invalid_argument, "the agent card has no name").pointer("/name");
  }
  card.streaming = json::flag_at(json::object_at(from, "capabilities"), "streaming");
  add_supported(card, from, card_url);
  add_older(card, from, card_url);
  add_skills(card, from);
  if (card.interfaces.empty()) {
    return Error(ErrorCode::unsupported,
                 "the agent card names no JSON-RPC interface of A2A 0.3 or 1.0");
  }
  card.source = *from;
  return card;
}

}  // namespace errand::a2a
