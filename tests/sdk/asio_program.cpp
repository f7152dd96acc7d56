// A program with a loop of its own: completions come there, on its one thread.

#include <errand/asio.hpp>
#include <errand/errand.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <thread>

int main() {
  errand::Runtime runtime(
      {.models = {{.id = "good", .model = errand::scripted({{.text = "It is done."}})},
                  {.id = "bad",
                   .model = errand::scripted(
                       {{.error = errand::Error(errand::ErrorCode::unauthorized, "no")}})}}});
  boost::asio::io_context loop;
  auto here = std::this_thread::get_id();
  auto show = [&](std::exception_ptr thrown, const errand::Reply& reply) {
    if (std::this_thread::get_id() != here) std::cout << "on another thread\n";
    try {
      if (thrown) std::rethrow_exception(thrown);
      std::cout << reply.text << "\n";
    } catch (const errand::RunError& error) {
      std::cout << error.what() << "\n";
    }
  };
  for (const char* model : {"good", "bad"}) {
    errand::async_run(runtime, {.prompt = "Go.", .model = model},
                      boost::asio::bind_executor(loop, show));
    loop.run();
    loop.restart();
  }
}
