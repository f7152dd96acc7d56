import tempfile
import unittest
from pathlib import Path

from loading import load_tool

check_layers = load_tool("check_layers")


class CheckLayersTest(unittest.TestCase):
    def problems(self, files: dict[str, str]) -> list[str]:
        """What the check says about a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return [str(problem) for problem in check_layers.check_tree(root)]

    def test_includes_of_lower_layers_and_of_the_own_folder_pass(self):
        self.assertEqual(
            self.problems({
                "src/engine/a.cpp": '#include "engine/a.hpp"\n#include "net/b.hpp"\n'
                                    '#include "base/c.hpp"\n#include <vector>\n',
            }),
            [],
        )

    def test_an_include_that_points_up_fails(self):
        self.assertEqual(
            self.problems({"src/base/a.hpp": '#pragma once\n#include "engine/b.hpp"\n'}),
            ['src/base/a.hpp:2: layer: "engine/b.hpp" points up: '
             "base is layer 0, engine is layer 6"],
        )

    def test_an_include_that_points_sideways_fails(self):
        self.assertEqual(
            self.problems({"src/json/a.hpp": '#include "async/task.hpp"\n'}),
            ['src/json/a.hpp:1: layer: "async/task.hpp" points sideways: '
             "json is layer 1, async is layer 1"],
        )

    def test_a_folder_includes_the_one_it_lies_in_but_not_its_sibling(self):
        self.assertEqual(
            self.problems({
                "src/store/sqlite/a.cpp": '#include "store/store.hpp"\n'
                                          '#include "store/memory/m.hpp"\n',
            }),
            ['src/store/sqlite/a.cpp:2: layer: "store/memory/m.hpp" points sideways: '
             "store/sqlite is layer 4, store/memory is layer 4"],
        )

    def test_a_public_header_includes_its_kind_and_the_standard_library(self):
        self.assertEqual(
            self.problems({
                "include/errand/a.hpp": "#include <errand/b.hpp>\n#include <vector>\n"
                                        "#include <boost/json.hpp>\n#include <coroutine>\n"
                                        "#include <openssl/ssl.h>\n",
                "include/errand/detail/c.hpp": '#include "json/value.hpp"\n',
            }),
            [
                *(f"include/errand/a.hpp:{line}: public: <{header}>: a public header includes "
                  "<errand/...> and the standard library, without coroutines"
                  for line, header in ((3, "boost/json.hpp"), (4, "coroutine"),
                                       (5, "openssl/ssl.h"))),
                'include/errand/detail/c.hpp:1: public: "json/value.hpp": write <errand/...>, '
                "as users do",
            ],
        )

    def test_only_the_sdk_and_the_commands_include_public_headers(self):
        self.assertEqual(
            self.problems({
                "src/sdk/api/a.cpp": "#include <errand/detail/a.hpp>\n",
                "src/sdk/a.cpp": "#include <errand/a.hpp>\n#include <errand/detail/a.hpp>\n",
                "src/cli/chat/a.cpp": "#include <errand/a.hpp>\n",
                "src/engine/a.cpp": "#include <errand/a.hpp>\n",
            }),
            [
                "src/engine/a.cpp:1: public: <errand/a.hpp>: the public headers are for users, "
                "src/sdk/api and src/sdk and src/cli",
                "src/sdk/a.cpp:2: detail: <errand/detail/a.hpp> is private to include/errand and "
                "src/sdk/api",
            ],
        )

    def test_commands_of_clients_include_nothing_that_is_behind_the_sdk(self):
        behind = "".join(f'#include "{header}"\n' for header in (
            "engine/a.hpp", "store/memory/a.hpp", "server/a.hpp", "net/client/a.hpp",
            "host/a.hpp", "sdk/a.hpp", "sdk/client/a.hpp", "a2a/a.hpp", "agent/a.hpp",
            "sdk/internal/a.hpp", "tool/files/a.hpp", "run/log/a.hpp"))
        folders = ("cli/agent", "cli/chat", "cli/commands", "cli/show", "cli/terminal")
        self.assertEqual(
            self.problems({
                **{f"src/{folder}/a.cpp": behind for folder in folders},
                "src/cli/operate/a.cpp": behind,
                "src/cli/doctor/a.cpp": behind,
                "src/cli/chat/a_test.cpp": behind,
            }),
            [
                f'src/{folder}/a.cpp:{line}: client: "{header}": {folder} stands on the SDK, '
                "see CLIENTS_SEE"
                for folder in folders
                for line, header in enumerate(
                    ("engine/a.hpp", "store/memory/a.hpp", "server/a.hpp", "net/client/a.hpp",
                     "host/a.hpp", "sdk/a.hpp", "sdk/client/a.hpp", "a2a/a.hpp",
                     "agent/a.hpp"), start=1)
            ],
        )

    def test_commands_of_clients_do_not_name_what_is_behind_the_sdk(self):
        self.assertEqual(
            self.problems({
                "src/cli/chat/a.cpp": "net::Query query;\n"
                                      "std::vector<engine::ModelList> lists;\n"
                                      "errand::host::Host host;\n"
                                      "sdk::Query fine;  // net::Query is not\n"
                                      'std::string text = "see net::Query";\n'
                                      "my::net::Query other;\n",
                "src/cli/chat/a_test.cpp": "net::Query query;\n",
                "src/cli/operate/a.cpp": "net::Query query;\n",
            }),
            [
                f"src/cli/chat/a.cpp:{line}: client: {name}: cli/chat stands on the SDK, "
                "see BEHIND_SDK"
                for line, name in ((1, "net::Query"), (2, "engine::ModelList"),
                                   (3, "host::Host"))
            ],
        )

    def test_a_library_that_includes_public_headers_links_their_compiled_half(self):
        self.assertEqual(
            self.problems({
                "CMakeLists.txt": "errand_module(sdk_api FOLDERS sdk/api)\nerrand_module(sdk)\n",
                "src/sdk/a.cpp": "#include <errand/a.hpp>\n",
            }),
            ["CMakeLists.txt:2: link: sdk does not link sdk_api, which src/sdk/a.cpp includes"],
        )

    def test_a_room_includes_the_rooms_below_it_and_no_other(self):
        self.assertEqual(
            self.problems({
                "src/net/client/a.cpp": '#include "net/url.hpp"\n#include "net/server/b.hpp"\n',
                "src/net/url.cpp": '#include "net/client/a.hpp"\n',
                "src/net/client/a_test.cpp": '#include "net/server/b.hpp"\n',
            }),
            [
                'src/net/client/a.cpp:2: room: "net/server/b.hpp": net/client may not include '
                "net/server, see ROOMS",
                'src/net/url.cpp:1: room: "net/client/a.hpp": net may not include net/client, '
                "see ROOMS",
            ],
        )

    def test_a_room_stands_on_the_layer_of_its_house(self):
        self.assertEqual(
            self.problems({
                "src/net/client/a.cpp": '#include "base/b.hpp"\n#include "engine/history/c.hpp"\n'
                                        "#include <openssl/ssl.h>\n",
            }),
            ['src/net/client/a.cpp:2: layer: "engine/history/c.hpp" points up: '
             "net/client is layer 3, engine/history is layer 6"],
        )

    def test_a_library_links_what_it_includes_and_nothing_else(self):
        self.assertEqual(
            self.problems({
                "CMakeLists.txt": "errand_module(base)\nerrand_module(json DEPENDS base)\n"
                                  "errand_module(run DEPENDS base)\n"
                                  "errand_module(net FOLDERS net net/client DEPENDS json base\n"
                                  "  LINK Some::library)\n",
                "src/json/a.cpp": '#include "base/b.hpp"\n',
                "src/run/a.cpp": '#include "json/a.hpp"\n#include "base/b.hpp"\n',
                "src/net/client/a.cpp": '#include "json/a.hpp"\n',
                "src/net/a_test.cpp": '#include "base/b.hpp"\n',
            }),
            [
                "CMakeLists.txt:3: link: run does not link json, which src/run/a.cpp includes",
                "CMakeLists.txt:4: link: net links base and includes nothing of it",
            ],
        )

    def test_a_program_of_the_tests_links_what_it_includes_and_nothing_else(self):
        self.assertEqual(
            self.problems({
                "CMakeLists.txt": "errand_module(base)\nerrand_module(json DEPENDS base)\n"
                                  "errand_module(net DEPENDS base)\n"
                                  "target_link_libraries(net_test PRIVATE errand_json)\n",
                "src/json/a.cpp": '#include "base/b.hpp"\n',
                "src/net/a.cpp": '#include "base/b.hpp"\n',
                "src/net/a_test.cpp": '#include "net/test_b.hpp"\n',
                "src/net/test_b.hpp": "#pragma once\n",
                "src/json/w.hpp": "#pragma once\n",
                "src/net/n.hpp": "#pragma once\n",
                "tests/CMakeLists.txt":
                    "file(GLOB all CONFIGURE_DEPENDS load/*.cpp)\n"
                    "add_executable(loads ${all})\n"
                    "target_link_libraries(loads PRIVATE errand_net)\n"
                    "foreach(name one two)\n"
                    "  add_executable(${name}_fuzz fuzz/${name}_fuzz.cpp)\n"
                    "  target_link_libraries(${name}_fuzz PRIVATE errand_json)\n"
                    "endforeach()\n",
                "tests/load/a.cpp": '#include "load/a.hpp"\n',
                "tests/load/a.hpp": '#include "json/w.hpp"\n',
                "tests/fuzz/one_fuzz.cpp": '#include "json/w.hpp"\n',
                "tests/fuzz/two_fuzz.cpp": '#include "net/n.hpp"\n',
            }),
            [
                "tests/CMakeLists.txt:1: link: loads does not link json, and includes it",
                "tests/CMakeLists.txt:1: link: loads links net and includes nothing of it",
                "tests/CMakeLists.txt:1: link: two_fuzz does not link net, and includes it",
                "tests/CMakeLists.txt:1: link: two_fuzz links json and includes nothing of it",
                "CMakeLists.txt:1: link: net_test links json and includes nothing of it",
            ],
        )

    def test_a_folder_does_not_include_its_own_sub_folder(self):
        self.assertEqual(
            self.problems({"src/store/a.cpp": '#include "store/memory/m.hpp"\n'}),
            ['src/store/a.cpp:1: layer: "store/memory/m.hpp" points up: '
             "store is layer 3, store/memory is layer 4"],
        )

    def test_what_lies_in_detail_is_private_to_its_owner(self):
        self.assertEqual(
            self.problems({
                "src/net/a.cpp": '#include "net/detail/x.hpp"\n',
                "src/server/b.cpp": '#include "net/detail/x.hpp"\n',
            }),
            ['src/server/b.cpp:1: detail: "net/detail/x.hpp" is private to net'],
        )

    def test_a_private_folder_is_like_detail_by_another_name(self):
        self.assertEqual(
            self.problems({
                "src/json/a.cpp": '#include "json/schema/x.hpp"\n',
                "src/json/schema/b.cpp": '#include "json/a.hpp"\n#include <re2/re2.h>\n',
                "src/run/c.cpp": '#include "json/schema/x.hpp"\n',
            }),
            ['src/run/c.cpp:1: detail: "json/schema/x.hpp" is private to json'],
        )

    def test_only_tests_include_the_support_folder(self):
        self.assertEqual(
            self.problems({
                "src/net/a_test.cpp": '#include "support/pair.hpp"\n',
                "src/net/client/test_peer.hpp": '#include "support/pair.hpp"\n',
                "src/store/store_contract_log.hpp": '#include "support/pair.hpp"\n',
                "src/net/a.cpp": '#include "support/pair.hpp"\n',
            }),
            ['src/net/a.cpp:1: include: "support/pair.hpp" is not in a folder of the table; '
             "spell it from src/"],
        )

    def test_an_unknown_folder_fails(self):
        self.assertEqual(
            self.problems({"src/misc/a.cpp": "\n"}),
            ["src/misc/a.cpp:1: folder: src/misc is not in the table of layers"],
        )

    def test_a_library_is_seen_by_the_source_files_of_its_owner_only(self):
        self.assertEqual(
            self.problems({
                "src/net/a.cpp": "#include <boost/beast/http.hpp>\n#include <openssl/ssl.h>\n",
                "src/net/a.hpp": "#include <boost/beast/core.hpp>\n",
                "src/net/detail/b.hpp": "#include <boost/beast/core.hpp>\n",
                "src/server/a.cpp": "#include <boost/beast.hpp>\n",
                "src/store/sqlite/a.cpp": "#include <sqlite3.h>\n",
                "src/store/a.cpp": "#include <sqlite3.h>\n",
                "src/crypto/a.cpp": "#include <openssl/evp.h>\n",
                "src/engine/a.cpp": "#include <openssl/evp.h>\n",
            }),
            [
                "src/engine/a.cpp:1: firewall: <openssl/evp.h>: only the .cpp files of "
                "src/crypto and src/net include OpenSSL",
                "src/net/a.hpp:1: firewall: <boost/beast/core.hpp>: only the .cpp files of "
                "src/net include Beast",
                "src/server/a.cpp:1: firewall: <boost/beast.hpp>: only the .cpp files of "
                "src/net include Beast",
                "src/store/a.cpp:1: firewall: <sqlite3.h>: only the .cpp files of "
                "src/store/sqlite include SQLite",
            ],
        )

    def test_plain_data_knows_nothing_of_asio(self):
        self.assertEqual(
            self.problems({
                "src/run/a.hpp": "#include <boost/asio/post.hpp>\n",
                "src/run/log/a.hpp": "#include <boost/asio/post.hpp>\n",
                "src/async/a.hpp": "#include <boost/asio/post.hpp>\n",
            }),
            ["src/run/a.hpp:1: firewall: <boost/asio/post.hpp>: run knows nothing of I/O",
             "src/run/log/a.hpp:1: firewall: <boost/asio/post.hpp>: run/log knows nothing of I/O"],
        )


if __name__ == "__main__":
    unittest.main()
