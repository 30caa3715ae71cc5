#if JetStream

import Foundation
import Testing

/// Keys and certificates of a test, made by `openssl`, in a folder that goes with this.
final class Certificates {
  let folder: URL

  static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") }

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("annals-certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
  }

  /// Makes an authority, `ca.pem`, and certificates by it for a server and a client.
  func makeCertificates() throws {
    try openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority",
      "-keyout ca.key -out ca.pem")
    try write("subjectAltName=IP:127.0.0.1,DNS:localhost", to: "names")
    for name in ["server", "client"] {
      try openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name)",
        "-keyout \(name).key -out \(name).csr")
      try openssl(
        "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2",
        "-extfile names -out \(name).pem")
    }
  }

  func openssl(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments.flatMap { $0.split(separator: " ").map { String($0) } }
    process.currentDirectoryURL = folder
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }
}

/// An NKey: an Ed25519 key whose parts are written in base 32, with a prefix and a checksum.
struct NKey {
  enum Kind: UInt8 {
    case account = 0
    case operation = 112
    case user = 160
  }

  private let certificates: Certificates
  private let name: String
  /// The part that everybody may know.
  let publicKey: String
  /// The secret part.
  let seed: String

  init(_ kind: Kind, _ name: String, in certificates: Certificates) throws {
    self.certificates = certificates
    self.name = name
    try certificates.openssl("genpkey -algorithm ed25519 -outform DER -out \(name).der")
    try certificates.openssl(
      "pkey -inform DER -in \(name).der -pubout -outform DER -out \(name).pub")
    let secret = try Data(contentsOf: URL(fileURLWithPath: certificates.file(name + ".der")))
    let open = try Data(contentsOf: URL(fileURLWithPath: certificates.file(name + ".pub")))
    publicKey = NKey.encode([kind.rawValue] + open.suffix(32))
    let prefix = [UInt8(18 << 3) | kind.rawValue >> 5, (kind.rawValue & 31) << 3]
    seed = NKey.encode(prefix + secret.suffix(32))
  }

  /// A JWT that says something of another key, signed with this one.
  func token(for subject: NKey, _ claims: String) throws -> String {
    let head = NKey.base64(Data(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8))
    let body = NKey.base64(
      Data(
        """
        {"jti":"1","iat":1600000000,"iss":"\(publicKey)","name":"\(subject.name)",\
        "sub":"\(subject.publicKey)","nats":{\(claims),"version":2}}
        """.utf8))
    try certificates.write("\(head).\(body)", to: "token")
    try certificates.openssl(
      "pkeyutl -sign -rawin -keyform DER -inkey \(name).der -in token -out signature")
    let signature = try Data(contentsOf: URL(fileURLWithPath: certificates.file("signature")))
    return "\(head).\(body).\(NKey.base64(signature))"
  }

  private static func base64(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  /// Base 32 of the bytes and their CRC-16 (XMODEM), least byte first.
  private static func encode(_ bytes: [UInt8]) -> String {
    var checksum: UInt16 = 0
    for byte in bytes {
      checksum ^= UInt16(byte) << 8
      for _ in 0..<8 { checksum = checksum & 0x8000 != 0 ? checksum << 1 ^ 0x1021 : checksum << 1 }
    }
    let all = bytes + [UInt8(checksum & 255), UInt8(checksum >> 8)]
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var text = ""
    var word: UInt32 = 0
    var bits = 0
    for byte in all {
      word = word << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(digits[Int(word >> UInt32(bits) & 31)])
      }
    }
    if bits > 0 { text.append(digits[Int(word << UInt32(5 - bits) & 31)]) }
    return text
  }
}

#endif
