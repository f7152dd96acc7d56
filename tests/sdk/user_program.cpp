// A program as a user writes it. It uses every public header and prints what it sees.

#include <errand/errand.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

enum class Unit { celsius, fahrenheit };

struct Weather {
  std::string city;
  int days = 1;
  Unit unit = Unit::fahrenheit;
  std::optional<std::string> station;
};
ERRAND_DESCRIBE(Weather, (city, "City to look up"), (days, "Days ahead", errand::range(1, 14)));

struct Forecast {
  std::string city;
  std::vector<double> degrees;
};

// A description may end with a semicolon or without.
struct Note {
  std::string text;
};
ERRAND_DESCRIBE(Note, (text, "What to remember", errand::length(1, 200)))

class Notebook {
 public:
  std::string add(const Note& note) {
    notes_.push_back(note.text);
    return "kept " + std::to_string(notes_.size());
  }

 private:
  std::vector<std::string> notes_;
};

// Moved, never copied.
struct Chain {
  int link;
  std::unique_ptr<Chain> next;
};

class Map {
 public:
  struct Place {
    std::string name;
    double north = 0;
  };
};
ERRAND_DESCRIBE(Map::Place, (name, "As on the map"), (north, errand::defaulted()))

int length(Chain chain) {
  return chain.next ? 1 + length(std::move(*chain.next)) : 1;
}

Forecast forecast(const Weather& args, errand::ToolContext& context) {
  context.progress("asking the station", 1, 2);
  return {args.city, std::vector<double>(static_cast<std::size_t>(args.days), 21.5)};
}

}  // namespace

int main() {
  auto notebook = std::make_shared<Notebook>();
  errand::Toolkit toolkit({
      .name = "travel",
      .rules = {"Ask for the city."},
      .tools = {errand::tool("get_weather", "Weather forecast for a city.", forecast,
                             {.read_only = true, .timeout = std::chrono::seconds(10)}),
                errand::tool("add_note", "Keeps a note.", &Notebook::add, notebook),
                errand::tool("now", "The time.", [] { return "noon"; })},
  });
  errand::ToolContext context;
  for (const errand::Tool& tool : toolkit.tools()) {
    std::cout << tool.name() << " " << tool.input_schema().dump() << "\n";
  }
  for (const char* arguments :
       {R"({"city":"Lagos","days":2})", R"({"city":"Lagos","unit":"celsius","station":null})",
        R"({"city":"Lagos","days":99})"}) {
    errand::Json json = errand::Json::parse(arguments).value();
    std::cout << toolkit.execute(context, "get_weather", json).text() << "\n";
  }
  errand::Json note = errand::to_json(Note{"buy milk"});
  std::cout << toolkit.execute(context, "add_note", note).text() << "\n";
  std::cout << toolkit.execute(context, "nou", errand::EmptyContent{}).text() << "\n";
  errand::Json chain = errand::Json::parse(R"({"link":1,"next":{"link":2}})").value();
  std::cout << errand::tool("length", "", length).call(chain).text() << "\n";
  std::cout << errand::to_json(errand::from_json<Chain>(chain).value()).dump() << "\n";
  std::cout << errand::schema_of<Map::Place>().dump() << "\n";
  errand::Result<Weather> weather = errand::from_json<Weather>(errand::Json::object());
  std::cout << (weather ? "read" : weather.error().describe()) << "\n";
}
