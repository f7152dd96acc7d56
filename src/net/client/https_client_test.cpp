#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "net/client/test_peer.hpp"

namespace errand::net::test::https_client_test {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;

struct Identity {
  Key key;
  Certificate certificate;
};

struct CertificateParams {
  std::string name = "test";
  std::string alternative = "DNS:localhost,IP:127.0.0.1";  // whom it is for
  const Identity* issuer = nullptr;                        // itself if there is none
  seconds begins{-3600};
  seconds ends{3600};
};

void add_extension(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  ASSERT_TRUE(extension);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Identity make_identity(const CertificateParams& params) {
  static long serial = 0;
  Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), params.begins.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), params.ends.count());
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(params.name.c_str()), -1, -1,
                             0);
  const Identity* issuer = params.issuer;
  X509_set_issuer_name(certificate.get(),
                       issuer ? X509_get_subject_name(issuer->certificate.get()) : name);
  if (params.alternative.empty()) {
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  } else {
    add_extension(certificate.get(), NID_subject_alt_name, params.alternative);
  }
  X509_sign(certificate.get(), issuer ? issuer->key.get() : key.get(), EVP_sha256());
  return {.key = key, .certificate = certificate};
}

struct ServerParams {
  Identity identity;
  int version_max = 0;  // the newest that there is
};

// The server's side of TLS. Ends with a closing alert if it is told to.
class TlsBytes final : public PeerBytes {
 public:
  TlsBytes(int fd, const ServerParams& params)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    SSL_CTX_use_certificate(context_.get(), params.identity.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), params.identity.key.get());
    if (params.version_max > 0) {
      SSL_CTX_set_cipher_list(context_.get(), "DEFAULT@SECLEVEL=0");
      SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
      SSL_CTX_set_max_proto_version(context_.get(), params.version_max);
    }
    session_.reset(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(session_.get(), fd);
    accepted_ = SSL_accept(session_.get()) == 1;
  }

  bool send(std::string_view bytes) override {
    return accepted_ && (bytes.empty() || SSL_write(session_.get(), bytes.data(),
                                                    static_cast<int>(bytes.size())) > 0);
  }
  bool receive(char& c) override { return accepted_ && SSL_read(session_.get(), &c, 1) == 1; }
  void say_goodbye() { SSL_shutdown(session_.get()); }
  std::string server_name() const {
    const char* name = SSL_get_servername(session_.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
  }

 private:
  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> session_;
  bool accepted_ = false;
};

// Speaks TLS first, and then as `script` says.
Peer::Script secured(ServerParams params, Peer::Script script) {
  return [params = std::move(params), script = std::move(script)](PeerConnection& peer) {
    peer.speak_through(std::make_unique<TlsBytes>(peer.fd(), params));
    script(peer);
  };
}

class Folder final {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "errand_net_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string save(const std::string& name, const Identity& identity) const {
    std::string file = path_ / name;
    FILE* out = std::fopen(file.c_str(), "w");
    PEM_write_X509(out, identity.certificate.get());
    std::fclose(out);
    return file;
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class HttpsClientTest : public ClientTest {
 protected:
  HttpsClientTest() { use({}); }

  // A new client that trusts our authority, in an environment with these variables.
  void use(std::map<std::string, std::string> variables) {
    variables.emplace("SSL_CERT_FILE", folder_.save("ca.pem", authority_));
    auto options = ClientOptions::from([&](const std::string& name) -> std::optional<std::string> {
      auto found = variables.find(name);
      if (found == variables.end()) return {};
      return found->second;
    });
    loop_.call([&] { client_ = std::make_unique<HttpClient>(std::move(options)); });
  }
  void close_client() {
    loop_.call([this] { client_.reset(); });
  }
  Identity issue(CertificateParams params) {
    params.issuer = &authority_;
    return make_identity(params);
  }
  // What a client says that meets a server with this certificate at 127.0.0.1.
  std::string error_with(const Identity& identity) {
    Peer peer(secured({.identity = identity}, answers(kOk)));
    auto response = get(cat("https://127.0.0.1:", peer.port(), "/"));
    if (response) return shown(response);
    return cat(response.error().reason(), ": ", response.error().message());
  }

  Folder folder_;
  Identity authority_ = make_identity({.name = "authority", .alternative = ""});
};

TEST_F(HttpsClientTest, TalksToServersThatItsAuthorityHasSigned) {
  EXPECT_EQ(error_with(issue({})), "200 ok");
}

TEST_F(HttpsClientTest, NamesTheHostItWants) {
  std::string name;
  Peer peer([&](PeerConnection& connection) {
    auto bytes = std::make_unique<TlsBytes>(connection.fd(), ServerParams{.identity = issue({})});
    name = bytes->server_name();
    connection.speak_through(std::move(bytes));
    answers(kOk)(connection);
  });
  EXPECT_EQ(shown(get(cat("https://localhost:", peer.port(), "/"))), "200 ok");
  EXPECT_EQ(name, "localhost");
}

TEST_F(HttpsClientTest, SaysWhatIsWrongWithACertificate) {
  EXPECT_EQ(error_with(issue({.ends = seconds(-60)})).substr(0, 20), "certificate_expired:");
  EXPECT_EQ(error_with(issue({.begins = seconds(60)})).substr(0, 26), "certificate_not_yet_valid:");
  EXPECT_EQ(error_with(issue({.alternative = "DNS:other.test,IP:127.0.0.2"})).substr(0, 23),
            "certificate_wrong_host:");
  EXPECT_EQ(error_with(make_identity({})).substr(0, 24), "certificate_self_signed:");
  Identity stranger = make_identity({.name = "stranger", .alternative = ""});
  EXPECT_EQ(error_with(make_identity({.issuer = &stranger})).substr(0, 27),
            "certificate_unknown_issuer:");
}

TEST_F(HttpsClientTest, SaysWhichHostAndWhatToDo) {
  Peer peer(secured({.identity = issue({.alternative = "DNS:other.test"})}, answers(kOk)));
  auto response = get(cat("https://localhost:", peer.port(), "/"));
  EXPECT_EQ(response.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(response.error().message(),
            "the certificate of localhost is for another host (hostname mismatch)");
  EXPECT_EQ(response.error().hint(), "use the host name that the certificate is made for");
}

TEST_F(HttpsClientTest, RefusesOldVersionsOfTls) {
  Peer peer(secured({.identity = issue({}), .version_max = TLS1_1_VERSION}, answers(kOk)));
  auto response = get(cat("https://127.0.0.1:", peer.port(), "/"));
  EXPECT_EQ(response.error().reason(), "tls_failed");
}

// OpenSSL's own level of security may refuse them too; the limit does not count on that.
TEST_F(HttpsClientTest, TheLeastVersionOfTlsIsSet) {
  auto context = TlsContext::load({.file = folder_.save("ca.pem", authority_), .directory = ""});
  std::shared_ptr<SSL> session(context.value()->make_session("localhost"), SSL_free);
  EXPECT_EQ(SSL_get_min_proto_version(session.get()), TLS1_2_VERSION);
}

TEST_F(HttpsClientTest, SaysThatAServerDoesNotSpeakTls) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_through("\x01");
    connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.wait_for_close();
  });
  auto response = get(cat("https://127.0.0.1:", peer.port(), "/"));
  EXPECT_EQ(response.error().reason(), "tls_failed");
  EXPECT_EQ(response.error().hint(), "does the server speak https on this port?");
}

TEST_F(HttpsClientTest, KeepsConnections) {
  Peer peer({secured({.identity = issue({})}, answers_often(kOk, 2))});
  EXPECT_EQ(shown(get(cat("https://127.0.0.1:", peer.port(), "/"))), "200 ok");
  EXPECT_EQ(shown(get(cat("https://127.0.0.1:", peer.port(), "/"))), "200 ok");
  EXPECT_EQ(peer.accepted(), 1);
  close_client();
}

TEST_F(HttpsClientTest, ABodyWithoutLengthNeedsAClosingAlert) {
  auto ends = [&](bool politely) {
    return [this, politely](PeerConnection& connection) {
      auto bytes = std::make_unique<TlsBytes>(connection.fd(), ServerParams{.identity = issue({})});
      TlsBytes* tls = bytes.get();
      connection.speak_through(std::move(bytes));
      answers("HTTP/1.1 200 OK\r\n\r\nuntil the end")(connection);
      if (politely) tls->say_goodbye();
    };
  };
  Peer polite(ends(true));
  EXPECT_EQ(shown(get(cat("https://127.0.0.1:", polite.port(), "/"))), "200 until the end");
  Peer rude(ends(false));
  EXPECT_EQ(shown(get(cat("https://127.0.0.1:", rude.port(), "/"))), "unavailable");
}

TEST_F(HttpsClientTest, CertificatesMayLieInAFolder) {
  auto hash = X509_NAME_hash_ex(X509_get_subject_name(authority_.certificate.get()), nullptr,
                                nullptr, nullptr);
  char name[16];
  std::snprintf(name, sizeof name, "%08lx.0", hash);
  folder_.save(name, authority_);
  use({{"SSL_CERT_FILE", ""}, {"SSL_CERT_DIR", folder_.path()}});
  EXPECT_EQ(error_with(issue({})), "200 ok");
}

TEST_F(HttpsClientTest, SaysThatItHasNoCertificatesToTrust) {
  use({{"SSL_CERT_FILE", "/no/such/file.pem"}});
  auto response = get("https://127.0.0.1:1/");
  EXPECT_EQ(shown_error(response.error()),
            "unavailable no_certificates: cannot load CA certificates from SSL_CERT_FILE, "
            "/no/such/file.pem");
  EXPECT_EQ(get("http://127.0.0.1:1/").error().reason(), "connect_failed");  // they are not needed
}

class ProxiedTest : public HttpsClientTest {
 protected:
  void use_proxy(const Peer& proxy) {
    use({{"ALL_PROXY", cat("http://user:pass@127.0.0.1:", proxy.port())}});
  }
  std::string error_behind(const std::string& answer) {
    Peer proxy(answers(answer));
    use_proxy(proxy);
    auto response = get("https://origin.test/");
    return cat(response.error().reason(), " ", response.error().hint());
  }
};

TEST_F(ProxiedTest, PlainRequestsNameTheirServer) {
  std::string head;
  {
    Peer proxy([&](PeerConnection& connection) {
      head = connection.receive_head();
      connection.send(kOk);
    });
    use_proxy(proxy);
    EXPECT_EQ(shown(get("http://origin.test:81/p?q")), "200 ok");
  }
  EXPECT_EQ(head,
            "GET http://origin.test:81/p?q HTTP/1.1\r\nHost: origin.test:81\r\n"
            "Accept-Encoding: gzip, deflate\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n");
}

TEST_F(ProxiedTest, SecureRequestsGoThroughATunnel) {
  std::string connect;
  std::string head;
  Peer proxy([&](PeerConnection& connection) {
    connect = connection.receive_head();
    connection.send("HTTP/1.1 200 Connection established\r\n\r\n");
    ServerParams params{.identity = issue({.alternative = "DNS:origin.test"})};
    connection.speak_through(std::make_unique<TlsBytes>(connection.fd(), params));
    head = connection.receive_head();
    connection.send(kOk);
    connection.receive_head();
    connection.send(kOk);
    connection.wait_for_close();
  });
  use_proxy(proxy);
  EXPECT_EQ(shown(get("https://origin.test/p")), "200 ok");
  EXPECT_EQ(shown(get("https://origin.test/p")), "200 ok");
  EXPECT_EQ(proxy.accepted(), 1);
  EXPECT_EQ(connect,
            "CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test:443\r\n"
            "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n");
  EXPECT_EQ(head, "GET /p HTTP/1.1\r\nHost: origin.test\r\nAccept-Encoding: gzip, deflate\r\n\r\n");
  close_client();
}

TEST_F(ProxiedTest, TheServerBehindATunnelMustProveItself) {
  Peer proxy([&](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    secured({.identity = issue({})}, answers(kOk))(connection);
  });
  use_proxy(proxy);
  EXPECT_EQ(get("https://origin.test/").error().reason(), "certificate_wrong_host");
}

TEST_F(ProxiedTest, SaysWhyThereIsNoTunnel) {
  EXPECT_EQ(error_behind("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
            "proxy_refused NO_PROXY names hosts to reach without it");
  EXPECT_EQ(error_behind("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
            "proxy_refused the proxy wants a user name and a password: "
            "http://user:password@host:port");
  EXPECT_EQ(error_behind("HTTP/1.1 200 OK\r\n\r\nearly bytes"), "proxy_out_of_turn ");
  EXPECT_EQ(error_behind("HTTP/1.1 2"), "proxy_failed ");
  EXPECT_EQ(error_behind(""), "proxy_failed ");
}

TEST_F(ProxiedTest, SaysThatTheProxyCannotBeReached) {
  std::uint16_t closed = Peer(std::vector<Peer::Script>()).port();
  use({{"ALL_PROXY", cat("127.0.0.1:", closed)}});
  EXPECT_EQ(get("https://origin.test/").error().message(),
            cat("cannot connect to the proxy 127.0.0.1:", closed,
                " for origin.test:443: Connection refused"));
}

}  // namespace
}  // namespace errand::net::test::https_client_test
