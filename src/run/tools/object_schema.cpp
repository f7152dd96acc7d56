#include "run/tools/object_schema.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "json/members.hpp"
#include "json/pointer.hpp"

namespace errand {
namespace {

constexpr int kHopsMax = 8;

// These keywords say nothing about values, or only name parts of the schema.
constexpr auto kNotes = std::to_array<std::string_view>(
    {"$schema", "$comment", "$defs", "definitions", "title", "description", "default", "examples",
     "deprecated", "readOnly", "writeOnly"});

bool is_note(std::string_view word) {
  return std::find(kNotes.begin(), kNotes.end(), word) != kNotes.end();
}

// Up to draft 7, a "$ref" hides the rules beside it.
enum class Beside { applies, is_hidden };

Beside rules_beside_ref(const json::Object& schema) {
  constexpr auto kHiding = std::to_array<std::string_view>({"draft-04", "draft-06", "draft-07"});
  std::string_view uri = json::text_at(&schema, "$schema");
  bool hides = std::any_of(kHiding.begin(), kHiding.end(), [uri](std::string_view draft) {
    return uri.find(draft) != std::string_view::npos;
  });
  return hides ? Beside::is_hidden : Beside::applies;
}

bool may_be_object(const json::Object& schema) {
  const json::Value* type = schema.if_contains("type");
  if (!type || *type == "object") return true;
  const json::Array* types = type->if_array();
  return types && std::find(types->begin(), types->end(), json::Value("object")) != types->end();
}

bool says_object(const json::Object& schema) {
  if (schema.contains("type")) return may_be_object(schema);
  return schema.contains("$ref") || schema.contains("allOf") || schema.contains("properties");
}

// Whether a value has to follow this member beside the "$ref", too. A type that only says "object"
// adds nothing.
bool is_rule(const json::Object::value_type& member) {
  std::string_view word(member.key().data(), member.key().size());
  return word != "$ref" && !is_note(word) && !(word == "type" && member.value() == "object");
}

void drop_rules(json::Object& schema) {
  json::Object kept;
  for (auto& member : schema) {
    if (!is_rule(member)) kept[member.key()] = std::move(member.value());
  }
  schema = std::move(kept);
}

const json::Object* target_of(const json::Value& root) {
  std::string_view ref = json::text_at(root.if_object(), "$ref");
  const json::Value* target =
      ref.starts_with("#/") ? json::find_pointer(root, ref.substr(1)) : nullptr;
  return target ? target->if_object() : nullptr;
}

// A part with an identifier or an address of its own is referred to by it, and would mean something
// else elsewhere.
bool can_move(const json::Object& part) {
  return !part.contains("$id") && !part.contains("$anchor") && !part.contains("$dynamicAnchor");
}

void put_target(json::Object& root, json::Object target) {
  root.stable_erase("$ref");
  for (auto& member : target) {
    if (!root.contains(member.key())) root[member.key()] = std::move(member.value());
  }
}

void move_into_all_of(json::Object& root) {
  json::Object reference{{"$ref", root.at("$ref")}};
  root.stable_erase("$ref");
  json::Value& all = root["allOf"];
  if (!all.is_array()) all = json::Array();
  all.get_array().push_back(std::move(reference));
}

// Returns false if the root refers to something that is not an object.
bool resolve_root(json::Value& root, Beside beside) {
  json::Object& out = root.get_object();
  for (int hop = 0; hop < kHopsMax && out.contains("$ref"); ++hop) {
    const json::Object* target = target_of(root);
    if (target && !may_be_object(*target)) return false;
    if (beside == Beside::is_hidden) {
      drop_rules(out);
      target = target_of(root);
    } else if (std::any_of(out.begin(), out.end(), is_rule)) {
      move_into_all_of(out);
      return true;
    }
    if (!target || !can_move(*target)) return true;
    put_target(out, *target);
  }
  return true;
}

}  // namespace

SchemaPtr object_schema(const json::Object* schema, std::shared_ptr<const void> keeper) {
  if (!schema || !says_object(*schema)) return nullptr;
  if (!schema->contains("$ref") && json::text_at(schema, "type") == "object") {
    return keeper ? ObjectPtr(std::move(keeper), schema) : share_schema(*schema);
  }
  json::Value root(*schema);
  if (!resolve_root(root, rules_beside_ref(*schema))) return nullptr;
  json::Object& out = root.get_object();
  if (!may_be_object(out)) return nullptr;
  out["type"] = "object";
  return share_schema(std::move(out));
}

SchemaPtr arguments_schema(const json::Object* schema, std::shared_ptr<const void> keeper) {
  if (SchemaPtr found = object_schema(schema, std::move(keeper))) return found;
  return share_schema({{"type", "object"}, {"properties", json::Object()}});
}

}  // namespace errand
