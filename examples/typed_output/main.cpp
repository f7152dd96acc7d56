// An answer that is a struct: its schema goes along with the question, and its text comes back as a
// value. The model is a scripted one, so that the program needs neither a server nor a key; leave
// `.models` out to ask the models of your environment.

#include <errand/errand.hpp>

#include <iostream>
#include <string>
#include <vector>

enum class Mood { calm, angry };

struct Ticket {
  std::string title;
  Mood mood = Mood::calm;
  std::vector<std::string> products;
};
ERRAND_DESCRIBE(Ticket, (title, "In one line", errand::length(1, 80)))

int main() {
  auto model = errand::scripted(
      {{.text = R"({"title":"The lamp flickers","mood":"angry","products":["lamp"]})"},
       {.text = R"({"name":"lamp"})"}});
  errand::Runtime runtime({.models = {{.id = "scripted", .model = model}}});

  auto reply = runtime.run<Ticket>({.prompt = "My lamp flickers AGAIN! Make a ticket of that."});
  std::cout << reply.value.title << (reply.value.mood == Mood::angry ? " (angry)" : "") << "\n";

  // An answer that is no Ticket is an error with the model's words.
  errand::RunOptions second{.prompt = "And now?", .fork_of = errand::ForkPoint{reply.run_id}};
  second.output = errand::OutputSchema{errand::Json::object({{"type", "object"}})};
  auto other = runtime.try_run<Ticket>(second);
  if (!other) std::cout << other.error().reason() << ": " << other.error().text() << "\n";
}
