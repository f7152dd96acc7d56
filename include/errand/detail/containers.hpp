#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <errand/detail/scalars.hpp>
#include <errand/detail/type.hpp>

// Containers are recognised by what they can do, so that their headers are not included.
namespace errand::ERRAND_V1::detail {

template <class T>
concept Map = requires(T& map) {
  typename T::key_type;
  typename T::mapped_type;
  map.clear();
  map.end();
};
template <class T>
concept Set = !Map<T> && requires(T& set, typename T::key_type key) {
  set.insert(std::move(key)).second;
  set.clear();
};
template <class T>
concept List = !Map<T> && !Set<T> && !std::same_as<T, std::string> && !Path<T> &&
               requires(T& list, typename T::value_type item) {
                 list.push_back(std::move(item));
                 list.clear();
                 list.begin();
               } && !requires(const T& text) { text.c_str(); };

// The same set is always the same JSON: elements without an order of their own are sorted by their
// text.
template <class T>
concept Ordered = requires { typename T::key_compare; };
void sort(JsonArray& items);
void sort(JsonObject& members);

template <List T>
struct Type<T> : Plain {
  static constexpr Shape kShape = Shape::list;
  using Item = typename T::value_type;

  static bool read(Reader& reader, const Json& json, T& out) {
    const JsonArray* items = reader.array(json);
    if (!items) return false;
    out.clear();
    for (std::size_t i = 0; i < items->size(); ++i) {
      Reader::Step step(reader, i);
      Item item{};
      if (!Type<Item>::read(reader, (*items)[i], item)) return false;
      out.push_back(std::move(item));
    }
    return true;
  }
  static Json write(const T& value) {
    JsonArray out;
    for (const auto& item : value) out.push_back(Type<Item>::write(item));
    return out;
  }
  static Json schema(SchemaBuilder& builder) { return list_schema(Type<Item>::schema(builder)); }
};

template <Set T>
struct Type<T> : Plain {
  static constexpr Shape kShape = Shape::list;
  using Item = typename T::key_type;

  static bool read(Reader& reader, const Json& json, T& out) {
    const JsonArray* items = reader.array(json);
    if (!items) return false;
    out.clear();
    for (std::size_t i = 0; i < items->size(); ++i) {
      Reader::Step step(reader, i);
      Item item{};
      if (!Type<Item>::read(reader, (*items)[i], item)) return false;
      if (!out.insert(std::move(item)).second) {
        return reader.fail("the item is there twice; items must be different");
      }
    }
    return true;
  }
  static Json write(const T& value) {
    JsonArray out;
    for (const auto& item : value) out.push_back(Type<Item>::write(item));
    if constexpr (!Ordered<T>) sort(out);
    return out;
  }
  static Json schema(SchemaBuilder& builder) { return set_schema(Type<Item>::schema(builder)); }
};

// Shared by std::array and arrays.
template <class T, std::size_t N>
struct FixedList : Plain {
  static constexpr Shape kShape = Shape::list;

  template <class Array>
  static bool read(Reader& reader, const Json& json, Array& out) {
    const JsonArray* items = reader.array(json, N, N);
    if (!items) return false;
    for (std::size_t i = 0; i < N; ++i) {
      Reader::Step step(reader, i);
      if (!Type<T>::read(reader, (*items)[i], out[i])) return false;
    }
    return true;
  }
  template <class Array>
  static Json write(const Array& value) {
    JsonArray out;
    for (std::size_t i = 0; i < N; ++i) out.push_back(Type<T>::write(value[i]));
    return out;
  }
  static Json schema(SchemaBuilder& builder) {
    return fixed_list_schema(Type<T>::schema(builder), N);
  }
};
template <class T, std::size_t N>
struct Type<std::array<T, N>> : FixedList<T, N> {};
template <class T, std::size_t N>
struct Type<T[N]> : FixedList<T, N> {
  static_assert(!Character<T>, "errand: an array of characters has no length; use std::string.");
};

// ---- Maps -------------------------------------------------------------------------------------

bool read_integer_key(Reader& reader, const std::string& text, IntegerRange range,
                      std::uint64_t& bits);
bool read_enum_key(Reader& reader, const std::string& text, const EnumInfo& info,
                   std::uint64_t& bits);

template <class K>
struct Key {
  static_assert(kNever<K>,
                "errand: the names of a JSON object are texts; a map's key must be a std::string, "
                "an integer or an enum.");
  static bool read(Reader&, const std::string&, K&) { return false; }
  static std::string write(const K&) { return {}; }
  static Json schema(Json values) { return values; }
};
template <>
struct Key<std::string> {
  static bool read(Reader&, const std::string& text, std::string& out) {
    out = text;
    return true;
  }
  static std::string_view write(const std::string& key) { return key; }
  static Json schema(Json values) { return map_schema(std::move(values)); }
};
template <Integer K>
struct Key<K> {
  static bool read(Reader& reader, const std::string& text, K& out) {
    std::uint64_t bits = 0;
    if (!read_integer_key(reader, text, Type<K>::kRange, bits)) return false;
    out = static_cast<K>(bits);
    return true;
  }
  static std::string write(K key) { return std::to_string(key); }
  static Json schema(Json values) { return integer_map_schema(std::move(values)); }
};
template <class K>
  requires std::is_enum_v<K>
struct Key<K> {
  static bool read(Reader& reader, const std::string& text, K& out) {
    std::uint64_t bits = 0;
    if (!read_enum_key(reader, text, enum_info<K>(), bits)) return false;
    out = static_cast<K>(bits);
    return true;
  }
  static const std::string& write(K key) {
    return enum_name(enum_info<K>(), static_cast<std::uint64_t>(key));
  }
  static Json schema(Json values) { return enum_map_schema(std::move(values), enum_info<K>()); }
};

// A multimap takes a key twice.
template <class T>
concept MultiMap =
    Map<T> && !requires(T& map, typename T::key_type key, typename T::mapped_type value) {
      map.emplace(std::move(key), std::move(value)).second;
    };

template <Map T>
struct Type<T> : Plain {
  using K = typename T::key_type;
  using V = typename T::mapped_type;

  static bool read(Reader& reader, const Json& json, T& out) {
    const JsonObject* members = reader.object(json);
    if (!members) return false;
    out.clear();
    for (const JsonMember& member : *members) {
      Reader::Step step(reader, member.name);
      K key{};
      V value{};
      if (!Key<K>::read(reader, member.name, key)) return false;
      if (!Type<V>::read(reader, member.value, value)) return false;
      out.emplace(std::move(key), std::move(value));
    }
    return true;
  }
  static Json write(const T& value) {
    JsonObject out;
    for (const auto& [key, item] : value) out.set(Key<K>::write(key), Type<V>::write(item));
    if constexpr (!Ordered<T>) sort(out);
    return out;
  }
  static Json schema(SchemaBuilder& builder) { return Key<K>::schema(Type<V>::schema(builder)); }
};
template <MultiMap T>
struct Type<T> : Refused<T> {
  static_assert(kNever<T>,
                "errand: a JSON object has each name once; use a map whose values are vectors.");
};

// ---- Tuples -----------------------------------------------------------------------------------

template <class T, class... Items>
struct Tuple : Plain {
  static bool read(Reader& reader, const Json& json, T& out) {
    const JsonArray* items = reader.array(json, sizeof...(Items), sizeof...(Items));
    return items && read_items(reader, *items, out, std::index_sequence_for<Items...>());
  }
  static Json write(const T& value) {
    return [&value]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(value);
      JsonArray out;
      (out.push_back(Type<Items>::write(std::get<I>(value))), ...);
      return Json(std::move(out));
    }(std::index_sequence_for<Items...>());
  }
  static Json schema(SchemaBuilder& builder) {
    static_cast<void>(builder);
    std::vector<Json> items;
    (items.push_back(Type<Items>::schema(builder)), ...);
    return tuple_schema(std::move(items));
  }

 private:
  template <std::size_t... I>
  static bool read_items(Reader& reader, const JsonArray& items, T& out,
                         std::index_sequence<I...>) {
    static_cast<void>(reader);
    static_cast<void>(items);
    static_cast<void>(out);
    return (read_item<Items>(reader, items, I, std::get<I>(out)) && ...);
  }
  template <class Item>
  static bool read_item(Reader& reader, const JsonArray& items, std::size_t index, Item& out) {
    Reader::Step step(reader, index);
    return Type<Item>::read(reader, items[index], out);
  }
};
template <class... Items>
struct Type<std::tuple<Items...>> : Tuple<std::tuple<Items...>, Items...> {};
template <class A, class B>
struct Type<std::pair<A, B>> : Tuple<std::pair<A, B>, A, B> {};

// ---- What may be null ---------------------------------------------------------------------------

template <class T>
struct Type<std::optional<T>> : Plain {
  static constexpr Shape kShape = Type<T>::kShape;
  static constexpr bool kMayBeMissing = true;

  static bool read(Reader& reader, const Json& json, std::optional<T>& out) {
    out.reset();
    if (json.is_null()) return true;
    return Type<T>::read(reader, json, out.emplace());
  }
  static Json write(const std::optional<T>& value) {
    return value ? Type<T>::write(*value) : Json();
  }
  static Json schema(SchemaBuilder& builder) { return nullable_schema(Type<T>::schema(builder)); }
};

template <class Pointer, class T>
struct OwningPointer : Plain {
  static constexpr bool kMayBeMissing = true;

  static bool read(Reader& reader, const Json& json, Pointer& out) {
    out.reset();
    if (json.is_null()) return true;
    out = Pointer(new T{});
    return Type<T>::read(reader, json, *out);
  }
  static Json write(const Pointer& value) {
    if (!value) return {};
    WriteDepth depth;
    return Type<T>::write(*value);
  }
  static Json schema(SchemaBuilder& builder) { return nullable_schema(Type<T>::schema(builder)); }
};
template <class T>
struct Type<std::unique_ptr<T>> : OwningPointer<std::unique_ptr<T>, T> {};
template <class T>
struct Type<std::shared_ptr<T>> : OwningPointer<std::shared_ptr<T>, T> {};

// ---- Variants -----------------------------------------------------------------------------------

template <class T>
const ObjectInfo* object_info_or_null() {
  if constexpr (std::is_base_of_v<StructMark, Type<T>>) {
    return &object_info<T>();
  } else {
    return nullptr;
  }
}

template <class... T>
struct Type<std::variant<T...>> : Plain {
  using Variant = std::variant<T...>;

  static bool read(Reader& reader, const Json& json, Variant& out) {
    return read_alternatives(reader, json, alternatives(), &out);
  }
  static Json write(const Variant& value) {
    return std::visit([](const auto& one) { return Type<std::decay_t<decltype(one)>>::write(one); },
                      value);
  }
  static Json schema(SchemaBuilder& builder) {
    return alternatives_schema(builder, alternatives());
  }

 private:
  template <class One>
  static bool read_one(Reader& reader, const Json& json, void* variant) {
    One one{};
    if (!Type<One>::read(reader, json, one)) return false;
    *static_cast<Variant*>(variant) = std::move(one);
    return true;
  }
  static const Alternatives& alternatives() {
    static const Alternatives kAlternatives = [] {
      Alternatives out{{{&kOps<T>, object_info_or_null<T>(), &read_one<T>}...}};
      out.finish();
      return out;
    }();
    return kAlternatives;
  }
};

}  // namespace errand::ERRAND_V1::detail
