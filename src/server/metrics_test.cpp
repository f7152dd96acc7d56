#include "server/metrics.hpp"

#include <gtest/gtest.h>

namespace errand::server {
namespace {

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  MetricsWriter out;
  out.metric("errand_things", MetricsWriter::Kind::gauge, "Things.");
  out.value(3);
  out.metric("errand_answers_total", MetricsWriter::Kind::counter, "Answers.");
  out.value("status", "200", 7);
  out.value("status", "404", 1);
  EXPECT_EQ(out.text(),
            "# HELP errand_things Things.\n"
            "# TYPE errand_things gauge\n"
            "errand_things 3\n"
            "# HELP errand_answers_total Answers.\n"
            "# TYPE errand_answers_total counter\n"
            "errand_answers_total{status=\"200\"} 7\n"
            "errand_answers_total{status=\"404\"} 1\n");
}

}  // namespace
}  // namespace errand::server
