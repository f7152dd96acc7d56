// Calls of a turn run beside each other, each on a thread of its own. This program shows them as
// they go, and ends a turn of three calls in the time of the longest one.

#include <errand/errand.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

struct Page {
  std::string url;
};

std::string fetch(const Page& page, errand::ToolContext& context) {
  context.progress("asking " + page.url);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a slow site
  return "the text of " + page.url;
}

int main() {
  auto call = [](const char* url) {
    return errand::ScriptedCall{"fetch", errand::Json::object({{"url", url}})};
  };
  auto model =
      errand::scripted({{.calls = {call("a.example"), call("b.example"), call("c.example")}},
                        {.text = "I have read three pages."}});
  errand::Runtime runtime({.models = {{.id = "scripted", .model = model}}});
  auto tool = errand::tool("fetch", "Fetch a page.", fetch, {.read_only = true});

  auto started = std::chrono::steady_clock::now();
  int answers = 0;
  auto stream = runtime.stream({.prompt = "Read three pages.", .tools = {tool}});
  for (const errand::Event& event : stream) {
    if (event.as<errand::ToolAnswered>()) ++answers;
    if (const auto* text = event.as<errand::TextDelta>()) std::cout << text->text << "\n";
  }
  auto took = std::chrono::steady_clock::now() - started;
  std::cout << answers << " answers, "
            << (took < std::chrono::milliseconds(550) ? "at once" : "in turn") << "\n";
}
