import AnnalsReplication
import Testing

/// The test vectors of FIPS 180-4, and lengths around a block.
@Suite struct SHA256Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
        + "lmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ]) func theStandardsVectors(_ text: String, _ digest: String) {
    for isPortable in [false, true] {
      var hash = SHA256(isPortable: isPortable)
      Array(text.utf8).withUnsafeBytes { hash.add($0) }
      #expect(hash.digest().description == digest)
    }
  }

  @Test(arguments: [false, true]) func aMillionLetters(isPortable: Bool) {
    var hash = SHA256(isPortable: isPortable)
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)
    for _ in 0..<1_000 { piece.withUnsafeBytes { hash.add($0) } }
    #expect(
      hash.digest().description
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(arguments: [false, true]) func piecesOfAnyLengthGiveTheSame(isPortable: Bool) {
    for count in 0..<200 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
      var hash = SHA256(isPortable: isPortable)
      bytes.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: count, by: 13) {
          hash.add(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 13, count)]))
        }
      }
      #expect(hash.digest() == Digest(of: bytes))
    }
  }
}
