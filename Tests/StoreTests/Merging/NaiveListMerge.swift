import AnnalsModel

/// A merge of ordered lists, as plain as it can be: by arrays, in quadratic time.
struct NaiveListMerge {
  private struct Element: Hashable {
    let reference: ObjectReference
    let count: Int
  }

  private(set) var list: [ObjectReference] = []
  private(set) var isConflicting = false

  /// Merges base, own and stored list.
  init(_ lists: [[ObjectReference]], _ prefersOwn: Bool) {
    let (base, own, stored) = (
      Self.elements(lists[0]), Self.elements(lists[1]), Self.elements(lists[2])
    )
    let mine = Self.moved(base, own)
    let theirs = Self.moved(base, stored)
    func isKept(_ element: Element) -> Bool {
      let (isOwn, isStored) = (own.contains(element), stored.contains(element))
      return base.contains(element) ? isOwn && isStored : isOwn || isStored
    }
    func before(_ element: Element, _ list: [Element]) -> Element? {
      list.firstIndex(of: element).flatMap { $0 > 0 ? list[$0 - 1] : nil }
    }
    var byOwn: Set<Element> = []
    for element in own where isKept(element) {
      if !stored.contains(element) { byOwn.insert(element) }
      guard mine.contains(element) else { continue }
      if !theirs.contains(element) {
        byOwn.insert(element)
      } else if before(element, own) != before(element, stored) {
        isConflicting = true
        if prefersOwn { byOwn.insert(element) }
      }
    }
    let byStored = stored.filter {
      !byOwn.contains($0) && (!base.contains($0) || theirs.contains($0))
    }
    var result = stored.filter { isKept($0) && !byOwn.contains($0) }
    var place = 0
    for element in own where isKept(element) {
      if byOwn.contains(element) {
        while place < result.count, byStored.contains(result[place]) { place += 1 }
        result.insert(element, at: place)
      }
      place = (result.firstIndex(of: element) ?? 0) + 1
    }
    list = result.map(\.reference)
  }

  private static func elements(_ list: [ObjectReference]) -> [Element] {
    list.indices.map { index in
      Element(
        reference: list[index], count: list.prefix(index).filter { $0 == list[index] }.count)
    }
  }

  /// What does not stay.
  private static func moved(_ old: [Element], _ new: [Element]) -> Set<Element> {
    let common = new.filter(old.contains)
    let places = common.compactMap(old.firstIndex)
    return Set(common).subtracting(places.placesOfLongestRise.map { common[$0] })
  }
}
