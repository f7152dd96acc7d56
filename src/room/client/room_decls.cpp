#include "room/client/room_decls.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "room/client/tools_host.hpp"

namespace errand::room {
namespace {

// A host may send any rules, and they are sent to the model in every turn of every run.
constexpr std::size_t kRulesMax = 32;
constexpr std::size_t kRuleBytesMax = 2'000;
constexpr std::size_t kDescriptionBytesMax = 8'000;

enum class Takes : std::uint8_t { json, text, nothing_of_ours };

Takes input_kind(const json::Object* spec) {
  if (!spec) return Takes::json;
  if (json::flag_at(spec, "stream")) return Takes::nothing_of_ours;
  const json::Array* types = json::array_at(spec, "types");
  auto has = [types](std::string_view type) {
    return types && std::any_of(types->begin(), types->end(), [type](const json::Value& one) {
             return one.is_string() && json::view(one.as_string()) == type;
           });
  };
  if (has("json") || has("empty")) return Takes::json;
  return has("text") ? Takes::text : Takes::nothing_of_ours;
}

json::Object any_object() {
  return {{"type", "object"}, {"properties", json::Object()}};
}

SchemaPtr model_schema(const json::Object* spec, const json::Object* defs) {
  const json::Object* schema = json::object_at(spec, "schema");
  if (!schema || json::text_at(schema, "type") != "object") return share_schema(any_object());
  json::Object whole = *schema;
  if (defs && !defs->empty()) {
    json::Object all = *defs;
    if (const json::Object* own = json::object_at(schema, "$defs")) {
      for (const auto& member : *own) all[member.key()] = member.value();
    }
    whole["$defs"] = std::move(all);
  }
  return share_schema(std::move(whole));
}

SchemaPtr text_input_schema() {
  return share_schema({{"type", "object"},
                       {"properties", {{"text", {{"type", "string"}}}}},
                       {"required", json::Array{"text"}}});
}

SchemaPtr output_schema_of(const json::Object& tool) {
  const json::Object* spec = json::object_at(&tool, "output_spec");
  if (!spec || json::flag_at(spec, "stream")) return nullptr;
  const json::Array* types = json::array_at(spec, "types");
  const bool is_json = types && types->size() == 1 && (*types)[0] == json::Value("json");
  const json::Object* schema = is_json ? json::object_at(spec, "schema") : nullptr;
  if (!schema || json::text_at(schema, "type") != "object") return nullptr;
  SchemaPtr whole = model_schema(spec, json::object_at(&tool, "defs"));
  return *whole == any_object() ? nullptr : whole;
}

void take_rules(std::vector<std::string>& out, const json::Object& from) {
  const json::Array* rules = json::array_at(&from, "rules");
  for (const json::Value& rule : rules ? *rules : json::Array()) {
    if (out.size() >= kRulesMax || !rule.is_string()) continue;
    out.emplace_back(utf8_prefix(json::view(rule.as_string()), kRuleBytesMax));
  }
}

// The value of a name in a list such as "a,b=text"; empty text if there is no "=". Nothing if the
// list does not have the name.
std::optional<std::string_view> value_in(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    one = trim(one);
    if (!one.starts_with(name)) continue;
    one.remove_prefix(name.size());
    if (one.empty()) return one;
    if (one.starts_with('=')) return one.substr(1);
  }
  return {};
}

bool names(std::string_view list, std::string_view name) {
  return value_in(list, name).has_value();
}

std::optional<milliseconds> timeout_in(std::string_view list, std::string_view name) {
  const auto millis = parse_integer<std::int64_t>(value_in(list, name).value_or(""));
  if (!millis || *millis < 1) return {};
  return std::min(milliseconds(*millis), kToolTimeoutMax);
}

std::string vendor_name(std::string_view toolkit, std::string_view tool) {
  std::string name = cat(toolkit, "_", tool);
  for (char& c : name) c = is_valid_tool_name({&c, 1}) ? c : '_';
  return name.substr(0, kToolNameCharsMax);
}

std::string described(const json::Object& tool) {
  return std::string(utf8_prefix(json::text_at(&tool, "description"), kDescriptionBytesMax));
}

}  // namespace

std::string to_upstream(const BoundTool& tool) {
  json::Object out{{"toolkit", tool.toolkit}, {"tool", tool.tool}};
  if (!tool.participant_name.empty()) out["participantName"] = tool.participant_name;
  if (tool.takes_text) out["takesText"] = true;
  return json::write(json::Value(std::move(out)));
}

std::optional<BoundTool> parse_upstream(std::string_view text) {
  auto value = json::parse(text);
  const json::Object* object = value ? value->if_object() : nullptr;
  if (!object) return {};
  return BoundTool{.toolkit = std::string(json::text_at(object, "toolkit")),
                   .tool = std::string(json::text_at(object, "tool")),
                   .participant_name = std::string(json::text_at(object, "participantName")),
                   .takes_text = json::flag_at(object, "takesText")};
}

std::vector<ToolDecl> decls_of(const ListedToolkit& toolkit, const RequiredToolkit* required) {
  const json::Object* tools = json::object_at(&toolkit.members, "tools");
  const json::Object* notes = json::object_at(&toolkit.members, "annotations");
  std::vector<ToolDecl> out;
  for (const auto& member : tools ? *tools : json::Object()) {
    const json::Object* tool = member.value().if_object();
    const std::string name(member.key().data(), member.key().size());
    const bool is_wanted =
        !required || !required->tools ||
        std::find(required->tools->begin(), required->tools->end(), name) != required->tools->end();
    if (!tool || !is_wanted) continue;
    const json::Object* spec = json::object_at(tool, "input_spec");
    const Takes takes = input_kind(spec);
    if (takes == Takes::nothing_of_ours) continue;
    BoundTool bound{.toolkit = toolkit.name,
                    .tool = name,
                    .participant_name = required ? required->participant_name : "",
                    .takes_text = takes == Takes::text};
    ToolDecl decl{.name = vendor_name(toolkit.name, name),
                  .title = std::string(json::text_at(tool, "title")),
                  .description = described(*tool),
                  .input_schema = bound.takes_text
                                      ? text_input_schema()
                                      : model_schema(spec, json::object_at(tool, "defs")),
                  .output_schema = output_schema_of(*tool)};
    decl.annotations.read_only = names(json::text_at(notes, kReadOnlyAnnotation), name);
    decl.annotations.idempotent = names(json::text_at(notes, kIdempotentAnnotation), name);
    decl.annotations.cancel_siblings = names(json::text_at(notes, kCancelSiblingsAnnotation), name);
    decl.annotations.timeout = timeout_in(json::text_at(notes, kTimeoutAnnotation), name);
    decl.origin.upstream = to_upstream(bound);
    if (out.empty()) take_rules(decl.rules, toolkit.members);
    take_rules(decl.rules, *tool);
    out.push_back(std::move(decl));
  }
  return out;
}

}  // namespace errand::room
