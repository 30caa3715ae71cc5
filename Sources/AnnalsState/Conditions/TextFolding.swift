import AnnalsModel

/// Folds texts before they are matched: ignores case or accents.
struct TextFolding: Sendable {
  let options: Condition.TextOptions
  let removingDiacritics: @Sendable (String) -> String

  var isIdentity: Bool { options.isEmpty }

  /// Replaces `result` by the folded text. O(n); slower for text beyond ASCII.
  func fold(_ text: UnsafeRawBufferPointer, into result: inout ContiguousArray<UInt8>) {
    result.removeAll(keepingCapacity: true)
    result.reserveCapacity(text.count)
    let isCaseInsensitive = options.contains(.caseInsensitive)
    for byte in text {
      guard byte < 0x80 else { return foldScalars(of: text, into: &result) }
      let isCapital = isCaseInsensitive && byte &- 0x41 < 26
      result.append(isCapital ? byte | 0x20 : byte)
    }
  }

  func folded(_ text: String) -> ContiguousArray<UInt8> {
    var result: ContiguousArray<UInt8> = []
    ContiguousArray(text.utf8).withUnsafeBytes { fold($0, into: &result) }
    return result
  }

  private func foldScalars(
    of bytes: UnsafeRawBufferPointer, into result: inout ContiguousArray<UInt8>
  ) {
    result.removeAll(keepingCapacity: true)
    var text = String(decoding: bytes, as: UTF8.self)
    if options.contains(.diacriticInsensitive) { text = removingDiacritics(text) }
    guard options.contains(.caseInsensitive) else {
      result.append(contentsOf: text.utf8)
      return
    }
    for scalar in text.unicodeScalars {
      result.append(contentsOf: UTF8.encode(TextFolding.caseFolded(scalar)) ?? .init())
    }
  }

  /// The lower-case letter, by way of the upper-case one, each if it is a single scalar: so "ς" and
  /// "σ" are the same, and "ß" stays one letter.
  static func caseFolded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII {
      return ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
    }
    let upper = scalar.properties.uppercaseMapping.onlyScalar ?? scalar
    return upper.properties.lowercaseMapping.onlyScalar ?? upper
  }
}

extension String {
  fileprivate var onlyScalar: Unicode.Scalar? {
    unicodeScalars.count == 1 ? unicodeScalars.first : nil
  }
}
