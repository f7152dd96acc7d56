#include <algorithm>
#include <errand/detail/containers.hpp>
#include <errand/detail/schema_builder.hpp>
#include <errand/detail/type.hpp>

#include "base/close_names.hpp"
#include "base/text.hpp"

namespace errand::v1::detail {
namespace {

const void* member_of(const void* object, const Field& field) {
  return static_cast<const char*>(object) + field.offset;
}
void* member_of(void* object, const Field& field) {
  return static_cast<char*>(object) + field.offset;
}

// Empty for a value that has no JSON, such as an enum's 0 without a name.
template <class Write>
std::optional<Json> try_write(Write write) {
  try {
    return write();
  } catch (const Error&) {
    return {};
  }
}

void decide(Field& field, const void* object) {
  auto value = try_write([&] { return field.ops->write(member_of(object, field)); });
  auto zero = try_write([&] { return field.ops->zero(); });
  bool is_set = value != zero && value;
  bool is_null = !value || (field.ops->may_be_missing && value->is_null());
  switch (field.presence) {
    case Presence::by_type:
      field.required = !field.ops->may_be_missing && !is_set;
      field.has_default = is_set;
      break;
    case Presence::required: field.required = true; break;
    case Presence::defaulted:
      field.required = false;
      field.has_default = !is_null;
      break;
  }
  if (field.has_default) field.default_value = *value;
}

}  // namespace

void ObjectInfo::finish(const void* value) {
  for (Field& field : fields) {
    if (find(field.name) != &field) {
      throw Error(ErrorCode::invalid_argument,
                  cat("two members of ", type_name, " are named ", field.name));
    }
    decide(field, value);
  }
}

const Field* ObjectInfo::find(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Field& described_field(ObjectInfo& info, std::string_view member) {
  for (Field& field : info.fields) {
    if (field.member == member) return field;
  }
  Field& field = info.fields.emplace_back();
  field.name = member;
  field.member = member;
  return field;
}

void apply(Field& field, const FieldOption& option) {
  if (!option.name.empty()) field.name = option.name;
  if (!option.description.empty()) field.description = option.description;
  if (option.presence != Presence::by_type) field.presence = option.presence;
  for (const JsonMember& keyword : option.keywords) field.keywords.set(keyword.name, keyword.value);
}

void apply(EnumInfo::Entry& entry, const FieldOption& option) {
  if (!option.name.empty()) entry.name = option.name;
  if (!option.description.empty()) entry.description = option.description;
}

void add_enumerators(EnumInfo& info, std::string_view signature, std::uint64_t (*bits)(int index)) {
  int index = 0;
  for (std::string& name : value_names(signature)) {
    std::uint64_t value = bits(index++);
    // For a bool, most candidates are the same value.
    bool is_known =
        std::ranges::find(info.entries, value, &EnumInfo::Entry::bits) != info.entries.end();
    if (!name.empty() && !is_known) info.entries.push_back({std::move(name), value});
  }
  if (info.entries.empty()) {
    throw Error(ErrorCode::invalid_argument,
                cat(info.type_name, " has no names for the values ", kEnumFirst, " to ", kEnumLast,
                    "; list its names with ERRAND_DESCRIBE"));
  }
}

bool read_object(Reader& reader, const Json& json, const ObjectInfo& info, void* out) {
  const JsonObject* members = reader.object(json);
  if (!members) return false;
  for (const JsonMember& member : *members) {
    Reader::Step step(reader, member.name);
    const Field* field = info.find(member.name);
    if (!field) {
      std::vector<std::string_view> known;
      for (const Field& one : info.fields) known.push_back(one.name);
      std::string hint = did_you_mean(member.name, known);
      return reader.fail(cat("unexpected property", hint.empty() ? "" : "; ", hint));
    }
    if (!field->ops->read(reader, member.value, member_of(out, *field))) return false;
  }
  for (const Field& field : info.fields) {
    if (!field.required || members->contains(field.name)) continue;
    return reader.fail(cat("missing required property \"", field.name, "\""));
  }
  return true;
}

Json write_object(const ObjectInfo& info, const void* value) {
  std::vector<JsonMember> members;
  members.reserve(info.fields.size());
  for (const Field& field : info.fields) {
    Json json = field.ops->write(member_of(value, field));
    // A missing member and a null mean the same only if the default is null.
    bool is_left_out =
        json.is_null() && field.ops->may_be_missing && !field.has_default && !field.required;
    if (!is_left_out) members.push_back({field.name, std::move(json)});
  }
  return JsonObject(std::move(members));
}

// ---- Variants -----------------------------------------------------------------------------------

namespace {

const Field* constant_field(const Alternatives::One& one, std::string_view name) {
  const Field* field = one.object ? one.object->find(name) : nullptr;
  return field && field->ops->is_constant ? field : nullptr;
}

}  // namespace

void Alternatives::finish() {
  if (list.empty() || !list.front().object) return;
  for (const Field& candidate : list.front().object->fields) {
    std::vector<Json> values;
    for (const One& one : list) {
      const Field* field = constant_field(one, candidate.name);
      if (!field) break;
      Json value = field->ops->zero();
      if (std::find(values.begin(), values.end(), value) != values.end()) break;
      values.push_back(std::move(value));
    }
    if (values.size() != list.size()) continue;
    tag = candidate.name;
    tags = std::move(values);
    return;
  }
}

namespace {

bool read_tagged(Reader& reader, const Json& json, const Alternatives& alternatives,
                 void* variant) {
  const JsonObject* members = reader.object(json);
  if (!members) return false;
  const Json* tag = members->find(alternatives.tag);
  if (!tag) return reader.fail(cat("missing required property \"", alternatives.tag, "\""));
  for (std::size_t i = 0; i < alternatives.tags.size(); ++i) {
    if (alternatives.tags[i] == *tag) return alternatives.list[i].read(reader, json, variant);
  }
  Reader::Step step(reader, alternatives.tag);
  return read_one_of_failed(reader, *tag, alternatives.tags);
}

}  // namespace

bool read_alternatives(Reader& reader, const Json& json, const Alternatives& alternatives,
                       void* variant) {
  if (!alternatives.tag.empty()) return read_tagged(reader, json, alternatives, variant);
  Reader::Attempt best;
  std::string here = reader.pointer();
  std::string all;
  for (const Alternatives::One& one : alternatives.list) {
    if (one.read(reader, json, variant)) return true;
    Reader::Attempt attempt = reader.take_error();
    if (attempt.pointer == here) append(all, all.empty() ? "" : "; or: ", attempt.message);
    // The alternative whose check got furthest is taken for the one that was meant.
    if (best.message.empty() || attempt.depth > best.depth) best = std::move(attempt);
  }
  if (best.pointer == here) best.message = std::move(all);
  return reader.fail(best);
}

// ---- Containers ---------------------------------------------------------------------------------

void sort(JsonArray& items) {
  std::ranges::sort(items, {}, [](const Json& item) { return item.dump(); });
}

void sort(JsonObject& members) {
  std::vector<JsonMember> sorted(members.begin(), members.end());
  std::ranges::sort(sorted, {}, &JsonMember::name);
  members = JsonObject(std::move(sorted));
}

// ---- Pointers -----------------------------------------------------------------------------------

namespace {

thread_local std::size_t write_depth = 0;

}  // namespace

WriteDepth::WriteDepth() {
  if (write_depth >= kDepthMax) {
    throw Error(ErrorCode::invalid_argument,
                cat("more than ", kDepthMax, " pointers within each other, perhaps a cycle"));
  }
  ++write_depth;
}

WriteDepth::~WriteDepth() {
  --write_depth;
}

}  // namespace errand::v1::detail
