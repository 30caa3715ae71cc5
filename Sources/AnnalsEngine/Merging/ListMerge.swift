import AnnalsModel

/// An ordered list of references that two sides have changed, merged reference by reference.
///
/// What either side has removed is gone, what either has inserted is there, and what one side has
/// moved is where that side has put it: behind what precedes it there. A reference that both have
/// moved, to different places, is a conflict; the others are merged whatever becomes of it. A
/// reference that is listed several times is one for each time. O(n log n).
struct ListMerge {
  /// The list of the two sides together.
  private(set) var merged: [ObjectReference] = []
  /// Whether both sides have moved a reference to different places.
  private(set) var isConflicting = false

  /// One reference of the three lists.
  private struct Element {
    let reference: ObjectReference
    var isInBase = false
    var isInOwn = false
    var isInStored = false
    var isMovedByOwn = false
    var isMovedByStored = false
    /// Whether the own side decides where it is.
    var isPlacedByOwn = false

    var isKept: Bool { isInOwn && isInStored || !isInBase && (isInOwn || isInStored) }
    var isPlacedByStored: Bool { isInStored && (!isInBase || isMovedByStored) && !isPlacedByOwn }
  }

  private var elements: [Element] = []
  private var known: [ObjectReference: [Int]] = [:]

  /// Merges two lists that come from one. `prefersOwn` says which side places what both have moved.
  init(
    base: [ObjectReference], own: [ObjectReference], stored: [ObjectReference], prefersOwn: Bool
  ) {
    let base = places(of: base)
    let own = places(of: own)
    let stored = places(of: stored)
    for place in base { elements[place].isInBase = true }
    for place in own { elements[place].isInOwn = true }
    for place in stored { elements[place].isInStored = true }
    for place in moved(from: base, to: own) { elements[place].isMovedByOwn = true }
    for place in moved(from: base, to: stored) { elements[place].isMovedByStored = true }
    decide(own, stored, prefersOwn)
    join(own, stored)
  }

  /// The elements of a list, each once.
  private mutating func places(of list: [ObjectReference]) -> [Int] {
    var counts: [ObjectReference: Int] = [:]
    return list.map { reference in
      let count = counts[reference, default: 0]
      counts[reference] = count + 1
      if let places = known[reference], count < places.count { return places[count] }
      known[reference, default: []].append(elements.count)
      elements.append(Element(reference: reference))
      return elements.count - 1
    }
  }

  /// The elements that are in both lists and not in one order, as few as can be.
  private func moved(from old: [Int], to new: [Int]) -> [Int] {
    var positions = [Int](repeating: -1, count: elements.count)
    for (position, place) in old.enumerated() { positions[place] = position }
    let common = new.filter { positions[$0] >= 0 }
    var next = 0
    let staying = common.map { positions[$0] }.placesOfLongestRise
    return common.indices.compactMap { index in
      if next < staying.count, staying[next] == index {
        next += 1
        return nil
      }
      return common[index]
    }
  }

  /// Decides which side places each element.
  private mutating func decide(_ own: [Int], _ stored: [Int], _ prefersOwn: Bool) {
    var before = [Int](repeating: -1, count: elements.count)
    for (place, next) in zip(stored, stored.dropFirst()) { before[next] = place }
    var last = -1
    for place in own {
      defer { last = place }
      let element = elements[place]
      guard element.isKept else { continue }
      if element.isMovedByOwn, element.isMovedByStored {
        guard before[place] != last else { continue }
        isConflicting = true
        elements[place].isPlacedByOwn = prefersOwn
      } else {
        elements[place].isPlacedByOwn = element.isMovedByOwn || !element.isInStored
      }
    }
  }

  /// Inserts what the own side places into the stored order, behind what precedes it on the own
  /// side, and behind what the stored side has put there.
  private mutating func join(_ own: [Int], _ stored: [Int]) {
    let head = elements.count
    var next = [Int](repeating: -1, count: elements.count + 1)
    var end = head
    for place in stored where elements[place].isKept && !elements[place].isPlacedByOwn {
      next[end] = place
      end = place
    }
    var last = head
    for place in own where elements[place].isKept {
      if elements[place].isPlacedByOwn {
        while next[last] >= 0, elements[next[last]].isPlacedByStored { last = next[last] }
        next[place] = next[last]
        next[last] = place
      }
      last = place
    }
    var place = next[head]
    while place >= 0 {
      merged.append(elements[place].reference)
      place = next[place]
    }
  }
}
