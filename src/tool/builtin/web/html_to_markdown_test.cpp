#include "tool/builtin/web/html_to_markdown.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "tool/builtin/web/html_document.hpp"

namespace errand::html_to_markdown_test {
namespace {

MarkdownPage page(std::string_view html) {
  return html_to_markdown(html, net::parse_url("https://example.com/a/b").value());
}
std::string markdown(std::string_view html) {
  return page(html).markdown;
}
std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(HtmlToMarkdown, HeadingsAndParagraphs) {
  EXPECT_EQ(markdown("<h1>One</h1><p>First\n  paragraph.</p><p>Second.</p><h3>Three</h3>text"),
            "# One\n\nFirst paragraph.\n\nSecond.\n\n### Three\n\ntext\n");
}

TEST(HtmlToMarkdown, TheTitleIsApart) {
  EXPECT_EQ(page("<title> A &amp; B\n</title><p>text"),
            (MarkdownPage{.title = "A & B", .markdown = "text\n", .is_cut = false}));
}

TEST(HtmlToMarkdown, LinksAreAbsolute) {
  EXPECT_EQ(markdown("<p>See <a href='../c?d=1'>the <b>page</b></a>, <a href=//x.org/y>y</a>."),
            "See [the **page**](https://example.com/c?d=1), [y](https://x.org/y).\n");
  EXPECT_EQ(markdown("<p><a href='x(1).html'>x</a>"), "[x](https://example.com/a/x%281%29.html)\n");
  EXPECT_EQ(markdown("<head><base href='/z/'></head><p><a href=c>c</a>"),
            "[c](https://example.com/z/c)\n");
}

TEST(HtmlToMarkdown, LinksThatLeadNowhereAreText) {
  EXPECT_EQ(markdown("<p><a href='#top'>a</a> <a href='javascript:x()'>b</a> <a name=n>c</a> "
                     "<a href=''>d</a> <a href='mailto:x@y'>e</a>"),
            "a b c d e\n");
  EXPECT_EQ(markdown("<p>x<a href=y></a>z"), "xz\n");
}

TEST(HtmlToMarkdown, ALinkAroundBlocksComesAfterThem) {
  EXPECT_EQ(markdown("<a href=/x><h2>Title</h2><p>About it.</p></a><p>next"),
            "## Title\n\nAbout it.\n\n<https://example.com/x>\n\nnext\n");
  EXPECT_EQ(markdown("<a href=/x><div>One</div><div>Two</div></a>"),
            "[One Two](https://example.com/x)\n");
}

TEST(HtmlToMarkdown, Emphasis) {
  EXPECT_EQ(
      markdown("<p>a<b> bold </b>b <em>em</em><i></i> <del>no</del> <strong><b>x</b></strong>"),
      "a **bold** b *em* ~~no~~ **x**\n");
}

TEST(HtmlToMarkdown, Lists) {
  EXPECT_EQ(markdown("<ul><li>a<li><p>b</p><ul><li>c</ul><li>d</ul>after"),
            "- a\n- b\n  - c\n- d\n\nafter\n");
  EXPECT_EQ(markdown("<ol start=9><li>a<li>b<p>more</p></ol>"), "9. a\n10. b\n\n    more\n");
  EXPECT_EQ(markdown("<dl><dt>Term<dd>What it is<dt>Other<dd>Same</dl>"),
            "Term\n: What it is\n\nOther\n: Same\n");
}

TEST(HtmlToMarkdown, Quotes) {
  EXPECT_EQ(markdown("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>after"),
            "> a\n>\n> b\n>\n> - c\n\nafter\n");
}

TEST(HtmlToMarkdown, CodeKeepsItsWhiteSpace) {
  EXPECT_EQ(markdown("<p>Call <code>f(x)</code> or <kbd>a`b</kbd>.<pre><code class='hl language-c'>"
                     "int  x;\n\n  <b>y</b> &lt; 1;\n</code></pre>after"),
            "Call `f(x)` or `` a`b ``.\n\n```c\nint  x;\n\n  y < 1;\n```\n\nafter\n");
  EXPECT_EQ(markdown("<pre>a\n```\nb</pre>"), "````\na\n```\nb\n````\n");
  EXPECT_EQ(markdown("<pre class='language-c\n```x'>a</pre>"), "```\na\n```\n");
}

TEST(HtmlToMarkdown, LineBreaksAndRules) {
  EXPECT_EQ(markdown("<p>a<br>b<br/>c</p><hr>d"), "a\nb\nc\n\n---\n\nd\n");
}

TEST(HtmlToMarkdown, PicturesAreWhatIsSaidOfThem) {
  EXPECT_EQ(markdown("<p>x <img src=a.png alt='A  cat'> y <img src=b.png> z"),
            "x [image: A cat] y z\n");
}

TEST(HtmlToMarkdown, TablesOfData) {
  EXPECT_EQ(
      markdown("<table><caption>Cap</caption><tr><th>A<th>B<tr><td>1|2<td><p>x</p><ul><li>y</ul>"
               "<tr><td>3</table>after"),
      "Cap\n\n| A | B |\n| --- | --- |\n| 1\\|2 | x y |\n| 3 |\n\nafter\n");
}

TEST(HtmlToMarkdown, TablesThatArrangeThingsAreNoTables) {
  EXPECT_EQ(markdown("<table><tr><td>menu<td><h1>Head</h1><p>text</table>"),
            "menu\n\n# Head\n\ntext\n");
  EXPECT_EQ(markdown("<table><tr><td>a<table><tr><td>1<td>2</table></table>"),
            "a\n\n| 1 | 2 |\n| --- | --- |\n");
}

TEST(HtmlToMarkdown, WhatIsNoTextOfThePageIsLeftOut) {
  EXPECT_EQ(
      markdown("<nav>menu</nav><script>if (a<b) x('</p>')</script><style>p{}</style>"
               "<p>This is the text of the page.</p><aside>ad</aside><form>name <input></form>"
               "<div hidden>secret</div><div role=navigation>more</div><svg><text>s</text></svg>"
               "<template>t</template><p aria-hidden=true>icon</p><footer>imprint</footer>"),
      "This is the text of the page.\n");
}

TEST(HtmlToMarkdown, AFormThatIsThePageIsThePage) {
  EXPECT_EQ(markdown("<form><p>All of the text</p><input name=x></form>"), "All of the text\n");
}

TEST(HtmlToMarkdown, TheMainPartIsPreferred) {
  EXPECT_EQ(markdown("<div>Login</div><main><h1>T</h1><p>text</main><div>more</div>"),
            "# T\n\ntext\n");
  EXPECT_EQ(markdown("<div>Login</div><div role=main>text of it</div>"), "text of it\n");
  EXPECT_EQ(markdown("<div>Login</div><article>A long article text</article>"),
            "A long article text\n");
  EXPECT_EQ(markdown("<article>first one</article><article>other one</article><p>end of it"),
            "first one\n\nother one\n\nend of it\n");
  EXPECT_EQ(markdown("<main></main><p>what a script did not bring"),
            "what a script did not bring\n");
}

TEST(HtmlToMarkdown, EntitiesAreCharacters) {
  EXPECT_EQ(
      markdown("<p>&lt;b&gt; &amp;amp; caf&eacute; &#8364; &#x1F600; a&nbsp;b &unknown; &#0; AT&T"),
      "<b> &amp; caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 a b &unknown; AT&T\n");
}

TEST(HtmlToMarkdown, BrokenPagesAreReadAsFarAsTheyGo) {
  EXPECT_EQ(markdown("<p>a<b>bold<p>next</b><div>x</p></table>y<li>z"),
            "a**bold**\n\nnext\n\nxy\n- z\n");
  EXPECT_EQ(markdown("<p>a<a href='x"), "a\n");
  EXPECT_EQ(markdown("<h1>head<p>text"), "# head\n\ntext\n");
  EXPECT_EQ(markdown(""), "");
  EXPECT_EQ(markdown("<"), "<\n");
  EXPECT_EQ(markdown("just text"), "just text\n");
}

// Hostile pages: what matters is that they come to an end with the memory and the time of others.

TEST(HostileHtml, DeepNestingCostsNoStack) {
  EXPECT_EQ(markdown(repeated("<div>", 10'000) + "text"), "text\n");
  EXPECT_EQ(markdown(repeated("<b><i>", 5'000) + "text"), "***text***\n");
  EXPECT_EQ(markdown(repeated("<blockquote>", 5'000) + "text"), repeated("> ", 12) + "text\n");
  EXPECT_EQ(markdown(repeated("<table><tr><td>", 3'000) + "text"), "text\n");
  EXPECT_EQ(markdown(repeated("<a href=x><h1>", 3'000) + "text").substr(0, 7), "# text\n");
}

TEST(HostileHtml, AMillionOpenElementsAreCut) {
  MarkdownPage cut = page("<p>begin</p>" + repeated("<i>", 1'000'000) + "end");
  EXPECT_TRUE(cut.is_cut);
  EXPECT_TRUE(cut.markdown.starts_with("begin\n"));
  EXPECT_EQ(cut.markdown.find("end"), std::string::npos);
}

TEST(HostileHtml, TagsThatSearchAllOpenElementsAreBounded) {
  EXPECT_TRUE(page(repeated("<i>", 5'000) + repeated("</b>", 1'000'000)).is_cut);
}

TEST(HostileHtml, AttributesWithoutEndAreBounded) {
  std::string html = "<p>begin</p><p ";
  for (int i = 0; i < 500'000; ++i) append(html, "a", i, "=1 ");
  MarkdownPage cut = page(html + ">end");
  EXPECT_TRUE(cut.is_cut);
  EXPECT_TRUE(cut.markdown.starts_with("begin\n"));
}

TEST(HostileHtml, AHugeAttributeIsPassedOver) {
  std::string huge(2'000'000, 'x');
  EXPECT_EQ(markdown(cat("<p>a <a href=\"", huge, "\">b</a> <img alt=\"", huge, "\"> c")),
            "a b c\n");
}

TEST(HostileHtml, ShortLinksOnALongUrlDoNotGrowWithoutEnd) {
  net::Url url = net::parse_url("https://example.com/" + std::string(3'000, 'd') + "/").value();
  MarkdownPage cut = html_to_markdown(repeated("<a href=x>y</a>", 20'000), url);
  EXPECT_TRUE(cut.is_cut);
  EXPECT_LT(cut.markdown.size(), kMarkdownBytesMax + 10'000);
}

TEST(HostileHtml, FloodsOfTagsAndSignsComeToAnEnd) {
  page(std::string(200'000, '<'));
  page(std::string(200'000, '&'));
  page(repeated("<!--", 50'000));
  page(repeated("<a b=", 50'000));
  page(repeated("</p>", 50'000));
  page(repeated("<p>x", 100'000));
  page(repeated("<table><td>", 20'000));
  page(repeated("<li>x<ul>", 5'000));
  page(repeated("<![CDATA[", 20'000));
  page(repeated("<script>", 20'000));
}

}  // namespace
}  // namespace errand::html_to_markdown_test
