#include "tool/builtin/web/search_service.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "tool/builtin/web/html_document.hpp"

namespace errand {
namespace {

// The length of a snippet of a page's text.
constexpr int kSnippetChars = 500;
// The bound of a title or a snippet; the rest is left out.
constexpr std::size_t kHtmlBytesMax = 4'000;

struct Provider {
  std::string_view word;
  const char* key_variable;
  const char* url_variable;
  std::string_view url;
};
// In the order of SearchProvider.
constexpr auto kProviders = std::to_array<Provider>({
    {"exa", "EXA_API_KEY", "EXA_BASE_URL", "https://api.exa.ai"},
    {"brave", "BRAVE_API_KEY", "BRAVE_BASE_URL", "https://api.search.brave.com"},
    {"tavily", "TAVILY_API_KEY", "TAVILY_BASE_URL", "https://api.tavily.com"},
});

const Provider& facts_of(SearchProvider provider) {
  return kProviders[static_cast<std::size_t>(provider)];
}

// Brave's titles and snippets are HTML, with tags around the words that were found.
std::string text_of_html(std::string_view html) {
  std::string known(utf8_prefix(html, kHtmlBytesMax));
  std::erase(known, '\0');
  return parse_html(known).text;
}

net::ClientRequest post(std::string url, const json::Object& body) {
  return {.method = net::Method::post,
          .url = std::move(url),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::write(body),
          .resend = net::Resend::once};
}

}  // namespace

std::string_view to_string(SearchProvider provider) {
  return facts_of(provider).word;
}

std::optional<SearchProvider> parse_search_provider(std::string_view word) {
  for (std::size_t i = 0; i < kProviders.size(); ++i) {
    if (kProviders[i].word == word) return static_cast<SearchProvider>(i);
  }
  return {};
}

std::optional<SearchService> search_service_in(const net::Environment& environment) {
  for (std::size_t i = 0; i < kProviders.size(); ++i) {
    auto key = environment(kProviders[i].key_variable);
    if (!key || key->empty()) continue;
    return SearchService{.provider = static_cast<SearchProvider>(i),
                         .key = std::move(*key),
                         .base_url = environment(kProviders[i].url_variable).value_or("")};
  }
  return {};
}

net::ClientRequest search_request(const SearchService& service, std::string_view query, int count) {
  const std::string_view base = net::without_trailing_slashes(
      service.base_url.empty() ? facts_of(service.provider).url : service.base_url);
  net::ClientRequest request;
  switch (service.provider) {
    case SearchProvider::exa:
      request = post(cat(base, "/search"),
                     {{"query", query},
                      {"numResults", count},
                      {"contents", {{"text", {{"maxCharacters", kSnippetChars}}}}}});
      request.headers.push_back({"x-api-key", service.key});
      break;
    case SearchProvider::brave:
      request.url = net::with_query(cat(base, "/res/v1/web/search"),
                                    {{"q", std::string(query)}, {"count", std::to_string(count)}});
      request.headers.push_back({"X-Subscription-Token", service.key});
      break;
    case SearchProvider::tavily:
      request = post(cat(base, "/search"), {{"query", query}, {"max_results", count}});
      request.headers.push_back({"Authorization", cat("Bearer ", service.key)});
      break;
  }
  request.headers.push_back({"Accept", "application/json"});
  request.headers.push_back({"User-Agent", cat("errand/", version())});
  return request;
}

Result<std::vector<SearchHit>> parse_hits(SearchProvider provider, std::string_view body) {
  auto value = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  const json::Object* root = value ? value->if_object() : nullptr;
  const bool is_brave = provider == SearchProvider::brave;
  // Brave leaves out "web" if there are no results.
  const json::Object* holder = is_brave && root ? json::object_at(root, "web") : root;
  const json::Array* results = json::array_at(holder, "results");
  if (!root || (!results && !(is_brave && !holder))) {
    return Error(ErrorCode::unavailable,
                 cat("the answer of ", to_string(provider), " has no results in it"));
  }
  const std::string_view snippet = is_brave                          ? "description"
                                   : provider == SearchProvider::exa ? "text"
                                                                     : "content";
  std::vector<SearchHit> hits;
  for (std::size_t i = 0; results && i < results->size(); ++i) {
    const json::Object* item = (*results)[i].if_object();
    SearchHit hit{.title = std::string(json::text_at(item, "title")),
                  .url = std::string(json::text_at(item, "url")),
                  .snippet = std::string(json::text_at(item, snippet))};
    if (is_brave) {
      hit.title = text_of_html(hit.title);
      hit.snippet = text_of_html(hit.snippet);
    }
    if (!hit.url.empty()) hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace errand
