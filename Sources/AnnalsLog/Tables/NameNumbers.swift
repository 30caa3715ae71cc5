import AnnalsModel

/// The numbers of interned names, by their bytes.
///
/// Caches the strings asked for last, as authors and contexts repeat, so that the usual commit
/// needs no look-up.
struct NameNumbers: Sendable {
  /// The numbers, each at the first free place from its name's hash on; 0 where there is none. At
  /// most half are taken. No dictionary: the first use of one of a type searches all conformances
  /// of the process.
  private var places: ContiguousArray<NameNumber> = []
  /// How many of the log's names are in `places`.
  private var count = 0
  private var recent: ContiguousArray<Recent> = []
  /// Which of `recent` is replaced next.
  private var oldest = 0

  /// A string with its length, which tells most others apart.
  private struct Recent {
    var length: Int
    var name: String
    var number: NameNumber
  }

  /// How many strings are cached: few enough to compare with each.
  private static let memory = 8

  /// The number of a name that the log knows; nil if it is new.
  mutating func number(of name: String, in names: [String]) -> NameNumber? {
    let length = name.utf8.count
    let known = recent.firstIndex { $0.length == length && $0.name.hasSameBytes(as: name) }
    if let known { return recent[known].number }
    if names.isEmpty { return nil }
    add(names)
    let number = places[place(of: name, in: names)]
    if number == 0 { return nil }
    let found = Recent(length: length, name: name, number: number)
    if recent.count < NameNumbers.memory {
      recent.append(found)
    } else {
      recent[oldest] = found
      oldest = (oldest + 1) % NameNumbers.memory
    }
    return number
  }

  /// Adds the names that the log has learned since.
  private mutating func add(_ names: [String]) {
    if 2 * names.count > places.count {
      places = ContiguousArray(repeating: 0, count: max(16, 4 * names.count))
      count = 0
    }
    while count < names.count {
      let place = place(of: names[count], in: names)
      count += 1
      // Should a file have a name twice, the last number counts.
      places[place] = NameNumber(count)
    }
  }

  /// Where the name is, or is to be put.
  private func place(of name: String, in names: [String]) -> Int {
    var hasher = Hasher()
    var name = name
    name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    var place = Int(UInt(bitPattern: hasher.finalize()) % UInt(places.count))
    while places[place] != 0, !names[Int(places[place]) - 1].hasSameBytes(as: name) {
      place = (place + 1) % places.count
    }
    return place
  }
}
