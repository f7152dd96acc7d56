#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "json/schema.hpp"

namespace errand::json {

// Compiled schemas by their text, so that runs with the same tools share them. Safe to use from any
// thread; a lock is held for a look-up, never for a compilation. Two threads that ask for a new
// text at the same moment may both compile it, and get the same schema.
class SchemaCache final {
 public:
  struct Limits {
    // What was used longest ago is forgotten first. A schema that is larger than `bytes_max` by
    // itself is compiled every time.
    std::size_t entries_max = 1'000;
    std::size_t bytes_max = 64 * 1024 * 1024;
  };

  // The documents of `options` outlive the cache.
  explicit SchemaCache(CompileOptions options = {}) : SchemaCache(options, Limits()) {}
  SchemaCache(CompileOptions options, Limits limits) : options_(options), limits_(limits) {}
  SchemaCache(const SchemaCache&) = delete;
  SchemaCache& operator=(const SchemaCache&) = delete;

  // The errors of json::parse and compile_schema. Those of the latter are remembered, too.
  Result<CompiledSchemaPtr> get(std::string_view text);
  Result<CompiledSchemaPtr> get(const Object& schema);
  // The same for an object that many share and nobody changes. Known by its address as long as it
  // lives, so that its text is not written for each look-up.
  Result<CompiledSchemaPtr> get(const std::shared_ptr<const Object>& schema);

  // What is_plain_schema says. Remembered of an object that is known by its address.
  bool is_plain(const std::shared_ptr<const Object>& schema);

  std::size_t size() const;

 private:
  struct Entry {
    std::string text;
    Result<CompiledSchemaPtr> schema;
    // The shared object that was asked for last; `address` is its key in by_address_.
    std::weak_ptr<const Object> object = {};
    const Object* address = nullptr;
    std::optional<bool> is_plain = {};  // once somebody has asked

    std::size_t bytes() const {
      return text.size() + (schema ? (*schema)->bytes() : schema.error().message().size());
    }
  };
  using Entries = std::list<Entry>;
  std::optional<Result<CompiledSchemaPtr>> find(std::string_view text);
  Result<CompiledSchemaPtr> insert(Entry entry);
  void remember(std::string_view text, const std::shared_ptr<const Object>& object);
  // With the mutex held.
  Entry* find_object(const Object* address);
  void forget_object(const Entry& entry);

  const CompileOptions options_;
  const Limits limits_;

  mutable std::mutex mutex_;
  // Protected by the mutex.
  Entries entries_;  // the one used last is first
  std::unordered_map<std::string_view, Entries::iterator> by_text_;
  std::unordered_map<const Object*, Entries::iterator> by_address_;  // at most one for each entry
  std::size_t bytes_ = 0;
};

}  // namespace errand::json
