// A test of an agent: a scripted model plays the turns, and the test looks at what the model was
// asked and what the tools did. Any test framework will do; this one is assert.

#undef NDEBUG
#include <errand/errand.hpp>

#include <cassert>
#include <iostream>
#include <string>
#include <vector>

struct Order {
  std::string product;
  int count = 1;
};

// What is tested: an agent of the program.
std::string shop_assistant(const errand::Runner& runner, const errand::Toolkit& shop,
                           const std::string& wish) {
  return runner.run({.prompt = wish, .system_prompt = "You sell lamps.", .toolkits = {shop}}).text;
}

int main() {
  std::vector<std::string> orders;
  errand::Toolkit shop({.name = "shop",
                        .rules = {"Never order more than 10."},
                        .tools = {errand::tool("order", "Orders.", [&](const Order& order) {
                          if (order.count > 10) throw std::runtime_error("That is too many.");
                          orders.push_back(order.product);
                          return "ordered";
                        })}});
  auto model = errand::scripted(
      {{.calls = {{"order", errand::Json::object({{"product", "lamp"}, {"count", 11}})}}},
       {.calls = {{"order", errand::Json::object({{"product", "lamp"}, {"count", 2}})}}},
       {.text = "Two lamps are on their way."}});
  errand::Runtime runtime({.models = {{.id = "test", .model = model}}});

  assert(shop_assistant(runtime, shop, "Lamps, please!") == "Two lamps are on their way.");
  assert(orders == std::vector<std::string>{"lamp"});
  auto asked = model->questions();
  assert(asked.size() == 3);
  assert(asked[0].system_prompt == "You sell lamps.\n\n- Never order more than 10.");
  assert(!asked[1].messages.back().results.at(0).ok);
  assert(asked[1].messages.back().results.at(0).text == "That is too many.");
  std::cout << "passed\n";
}
