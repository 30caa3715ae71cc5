import Annals
import Foundation
import InspectorPage
import Testing

@testable import InspectorServer

/// Attacks each rule of the server.
@Suite(.apart) struct SecurityTests {
  private let served: ServedStore

  init() throws { served = try ServedStore() }

  @Test func theKeyOpensThePage() throws {
    let first = try served.ask("/?token=\(served.token)", cookie: "")
    #expect(first?.status == 303 && first?.headers["location"] == "/")
    let cookie = first?.headers["set-cookie"] ?? ""
    #expect(cookie == "\(served.cookie); HttpOnly; SameSite=Strict; Path=/")
    #expect(try served.ask("/")?.status == 200)
    #expect(try served.ask("/api/overview")?.status == 200)
    let elsewhere = try served.ask(
      "/?token=\(served.token)", cookie: "", "Sec-Fetch-Site: cross-site")
    #expect(elsewhere?.status == 200 && elsewhere?.headers["set-cookie"] == cookie)
  }

  /// Whoever lacks the key, or has a wrong one, gets nothing.
  @Test func withoutTheKey() throws {
    let token = served.token
    let wrong = [
      "", "other=1", "annals-\(served.port)=", "annals-\(served.port)=\(token.dropLast())",
      "annals-\(served.port)=\(token)0", "annals-\(served.port)=\(token.uppercased())x",
      "annals-\(served.port &+ 1)=\(token)", "annals-\(served.port)=0\(token.dropFirst())",
      "annals=\(token)", "x=annals-\(served.port)=\(token)",
    ]
    for cookie in wrong where cookie != "annals-\(served.port)=\(token)" {
      for target in ["/", "/index.html", "/api/overview", "/api/events", "/api/value"] {
        let answer = try served.ask(target, cookie: cookie)
        #expect(answer?.status == 401, "\(cookie) \(target)")
        #expect(answer?.headers["set-cookie"] == nil && answer?.text.contains("Post") == false)
      }
    }
    for given in ["", "x", "\(token)x", String(token.dropLast()), "%00", token.uppercased() + "1"] {
      #expect(try served.ask("/?token=\(given)", cookie: "")?.status == 401, "\(given)")
    }
    // The key counts in the first address alone.
    #expect(try served.ask("/api/overview?token=\(token)", cookie: "")?.status == 401)
  }

  /// Comparing a wrong key takes the same time, whether its beginning or its end is wrong.
  @Test func theKeyIsComparedInConstantTime() {
    let gate = served.server.gate
    let token = served.token
    let early = "!" + token.dropFirst()
    let late = token.dropLast() + "!"
    func time(_ text: Substring) -> Duration {
      ContinuousClock().measure { for _ in 0..<500 where gate.isToken(text) { return } }
    }
    #expect(!gate.isToken(Substring(early)) && !gate.isToken(Substring(late)))
    #expect(gate.isToken(Substring(token)))
    // In turns, and the least of many: others use the machine meanwhile.
    var (first, last) = (Duration.seconds(60), Duration.seconds(60))
    for _ in 0..<200 {
      first = min(first, time(Substring(early)))
      last = min(last, time(Substring(late)))
    }
    #expect(first < last * 2 && last < first * 2, "\(first) and \(last)")
  }

  /// A page whose name was bound to this address names another host.
  @Test(arguments: [
    "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:PORT.evil.example",
    "localhost", "2130706433:PORT", "[::1]", "127.0.0.1:PORT@evil.example", "",
    "127.0.0.1:PORT, evil.example",
  ])
  func aForeignHost(host: String) throws {
    let name = host.replacing("PORT", with: "\(served.port)")
    for target in ["/", "/api/overview", "/?token=\(served.token)"] {
      let answer = try served.ask(target, host: name)
      #expect(answer?.status == 421, "\(name) \(target)")
      #expect(answer?.headers["set-cookie"] == nil)
    }
  }

  @Test func ownHosts() throws {
    for host in ["localhost:\(served.port)", "LOCALHOST:\(served.port)", "[::1]:\(served.port)"] {
      #expect(try served.ask("/api/overview", host: host)?.status == 200)
    }
  }

  @Test(arguments: [
    "Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1",
    "Origin: https://127.0.0.1:PORT", "Origin: http://127.0.0.1:PORT.evil.example", "Origin: ",
    "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
  ])
  func aForeignPage(header: String) throws {
    let line = header.replacing("PORT", with: "\(served.port)")
    let answer = try served.ask("/api/overview", line)
    #expect(answer?.status == 403, "\(line)")
    let own = try served.ask(
      "/api/overview", "Origin: http://127.0.0.1:\(served.port)", "Sec-Fetch-Site: same-origin")
    #expect(own?.status == 200 && own?.headers["access-control-allow-origin"] == nil)
  }

  /// Nothing runs in an answer but the page's own files, and no other page shows it.
  @Test(arguments: ["/", "/api/overview", "/api/none", "/none", "/?token=x"])
  func everyAnswerIsProtected(target: String) throws {
    let headers = try #require(try served.ask(target)).headers
    let policy = headers["content-security-policy"] ?? ""
    for part in [
      "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
      "form-action 'none'",
    ] {
      #expect(policy.contains(part))
    }
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
    #expect(headers["x-content-type-options"] == "nosniff" && headers["x-frame-options"] == "DENY")
    #expect(headers["referrer-policy"] == "no-referrer")
    #expect(headers["cross-origin-resource-policy"] == "same-origin")
    #expect(headers["server"] == nil)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X"])
  func onlyReadingMethods(method: String) throws {
    let answer = try served.ask("/api/overview", method: method)
    #expect(answer?.status == 405 && answer?.headers["allow"] == "GET, HEAD")
  }

  @Test func aHeadHasNoBody() throws {
    let answer = try served.ask("/api/overview", method: "HEAD")
    #expect(answer?.status == 200 && answer?.body.isEmpty == true)
    #expect(Int(answer?.headers["content-length"] ?? "") ?? 0 > 100)
  }

  /// No path leads to a file.
  @Test(arguments: [
    "/../../../../etc/passwd", "/page/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/page//etc/passwd", "/\\..\\..\\etc\\passwd",
    "/.git/config", "/posts.annals", "/api/../posts.annals", "/page/%00index.html",
    "/index.html%00", "/api/overview/../../posts.annals", "/Page/index.html", "/index.html/",
    "/api/", "/api", "/api/overview%20", "/page/", "/Package.swift", "/API.md",
  ])
  func pathTricks(target: String) throws {
    let answer = try served.ask(target)
    #expect(answer?.status == 404, "\(target): \(answer?.status ?? 0)")
    #expect(answer?.text.contains("root:") == false)
  }

  @Test func aStoreOfAnotherFolder() throws {
    for name in ["../posts.annals", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "posts.annals%00"] {
      let answer = try served.ask("/api/overview?store=\(name)")
      #expect(answer?.status == 404 || answer?.status == 400, "\(name)")
    }
    #expect(try served.ask("/api/overview?store=posts.annals")?.status == 200)
  }

  @Test func valuesOfTheStoreAreNeverMarkup() throws {
    let text = try served.ask("/api/value?object=Post/p7&property=text")
    #expect(text?.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(text?.text == "<b>7</b>")
    let table = try served.ask("/api/table?entity=Post")
    #expect(table?.headers["content-type"] == "application/json; charset=utf-8")
  }

  @Test func pageFilesHaveTags() throws {
    let first = try #require(try served.ask("/"))
    let tag = try #require(first.headers["etag"])
    #expect(first.headers["content-type"] == "text/html; charset=utf-8")
    #expect(try served.ask("/index.html", "If-None-Match: \(tag)")?.status == 304)
    #expect(try served.ask("/page/index.html")?.body == first.body)
  }

  /// The program has every file of the folder.
  @Test func thePageIsEmbeddedWhole() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Page")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix(".") }
    #expect(Set(names) == Set(EmbeddedPage.contents.keys))
    for name in names {
      let bytes = try Data(contentsOf: folder.appending(path: name))
      #expect(EmbeddedPage.contents[name] == [UInt8](bytes), "\(name)")
    }
  }
}
