#include "server/metrics.hpp"

#include <gtest/gtest.h>

namespace errand::server::metrics_test {
namespace {

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  MetricsWriter out;
  out.metric("errand_things", MetricsWriter::Kind::gauge, "Things.");
  out.value(std::uint64_t{3});
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

TEST(Metrics, LabelsAreEscaped) {
  MetricsWriter out;
  out.metric("errand_t", MetricsWriter::Kind::counter, "T.");
  out.value({{.name = "model", .word = "a\"b\\c\nd"}, {.name = "kind", .word = "input"}},
            std::uint64_t{2});
  EXPECT_TRUE(out.text().ends_with(R"(errand_t{model="a\"b\\c\nd",kind="input"} 2)"
                                   "\n"))
      << out.text();
}

TEST(Metrics, AHistogramCountsEverythingUpToABound) {
  DurationHistogram times;
  times.observe(milliseconds(1));
  times.observe(milliseconds(3));
  times.observe(seconds(61));
  MetricsWriter out;
  out.histogram("errand_x_seconds", "X.", times);
  EXPECT_EQ(out.text(),
            "# HELP errand_x_seconds X.\n"
            "# TYPE errand_x_seconds histogram\n"
            "errand_x_seconds_bucket{le=\"0.001\"} 1\n"
            "errand_x_seconds_bucket{le=\"0.005\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.01\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.025\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.05\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.1\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.25\"} 2\n"
            "errand_x_seconds_bucket{le=\"0.5\"} 2\n"
            "errand_x_seconds_bucket{le=\"1\"} 2\n"
            "errand_x_seconds_bucket{le=\"2.5\"} 2\n"
            "errand_x_seconds_bucket{le=\"5\"} 2\n"
            "errand_x_seconds_bucket{le=\"10\"} 2\n"
            "errand_x_seconds_bucket{le=\"30\"} 2\n"
            "errand_x_seconds_bucket{le=\"60\"} 2\n"
            "errand_x_seconds_bucket{le=\"+Inf\"} 3\n"
            "errand_x_seconds_sum 61.004\n"
            "errand_x_seconds_count 3\n");
}

TEST(Metrics, TheProcessTellsOfItself) {
  const ProcessFacts facts = process_facts("/", "");
  EXPECT_GT(facts.cpu_seconds, 0);
  EXPECT_GT(facts.resident_bytes, 0U);
  EXPECT_GE(facts.open_files, 3U);
  EXPECT_GT(facts.disk_free_bytes.value_or(0), 0U);
  EXPECT_FALSE(facts.database_bytes);
  EXPECT_FALSE(process_facts("/there/is/no/such/folder", "").disk_free_bytes);
  EXPECT_GT(process_facts("/", "/proc/self/exe").database_bytes.value_or(0), 0U);
}

}  // namespace
}  // namespace errand::server::metrics_test
