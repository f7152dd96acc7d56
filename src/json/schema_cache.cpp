#include "json/schema_cache.hpp"

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::json {

Result<CompiledSchemaPtr> SchemaCache::get(std::string_view text) {
  if (auto known = find(text)) return *known;
  ERRAND_TRY(Value schema, parse(text));
  return insert({.text = std::string(text), .schema = compile_schema(schema, options_)});
}

Result<CompiledSchemaPtr> SchemaCache::get(const Object& schema) {
  std::string text;
  write(text, schema);
  if (auto known = find(text)) return *known;
  return insert({.text = std::move(text), .schema = compile_schema(schema, options_)});
}

Result<CompiledSchemaPtr> SchemaCache::get(const std::shared_ptr<const Object>& schema) {
  {
    std::lock_guard lock(mutex_);
    if (Entry* known = find_object(schema.get())) return known->schema;
  }
  std::string text;
  write(text, *schema);
  auto known = find(text);
  auto compiled = known ? std::move(*known)
                        : insert({.text = text, .schema = compile_schema(*schema, options_)});
  remember(text, schema);
  return compiled;
}

bool SchemaCache::is_plain(const std::shared_ptr<const Object>& schema) {
  {
    std::lock_guard lock(mutex_);
    const Entry* known = find_object(schema.get());
    if (known && known->is_plain) return *known->is_plain;
  }
  const bool is_plain = is_plain_schema(*schema);
  std::lock_guard lock(mutex_);
  if (Entry* known = find_object(schema.get())) known->is_plain = is_plain;
  return is_plain;
}

std::size_t SchemaCache::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

std::optional<Result<CompiledSchemaPtr>> SchemaCache::find(std::string_view text) {
  std::lock_guard lock(mutex_);
  auto known = by_text_.find(text);
  if (known == by_text_.end()) return {};
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->schema;
}

Result<CompiledSchemaPtr> SchemaCache::insert(Entry entry) {
  std::list<Entry> forgotten;  // freed after the lock is released
  std::lock_guard lock(mutex_);
  auto known = by_text_.find(entry.text);
  if (known != by_text_.end()) return known->second->schema;
  if (entry.bytes() > limits_.bytes_max) return entry.schema;
  entry.text.shrink_to_fit();
  const Result<CompiledSchemaPtr> schema = entry.schema;
  entries_.push_front(std::move(entry));
  by_text_.emplace(entries_.front().text, entries_.begin());
  bytes_ += entries_.front().bytes();
  while (entries_.size() > limits_.entries_max || bytes_ > limits_.bytes_max) {
    bytes_ -= entries_.back().bytes();
    by_text_.erase(entries_.back().text);
    forget_object(entries_.back());
    forgotten.splice(forgotten.begin(), entries_, std::prev(entries_.end()));
  }
  return schema;
}

// An object at the address of another one that has died is not that one.
SchemaCache::Entry* SchemaCache::find_object(const Object* address) {
  auto known = by_address_.find(address);
  if (known == by_address_.end() || known->second->object.expired()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return &*known->second;
}

void SchemaCache::forget_object(const Entry& entry) {
  auto known = by_address_.find(entry.address);
  if (known != by_address_.end() && &*known->second == &entry) by_address_.erase(known);
}

void SchemaCache::remember(std::string_view text, const std::shared_ptr<const Object>& object) {
  std::lock_guard lock(mutex_);
  auto known = by_text_.find(text);
  if (known == by_text_.end()) return;
  Entry& entry = *known->second;
  forget_object(entry);
  entry.object = object;
  entry.address = object.get();
  by_address_.insert_or_assign(entry.address, known->second);
}

}  // namespace errand::json
