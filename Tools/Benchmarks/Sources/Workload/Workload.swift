/// The workload "posts": a bulk of posts to insert in one transaction, then transactions of one
/// object each, 70% updates of one or two properties, 20% inserts, 10% deletes.
///
/// The same in every run and in every program, so that figures are comparable: see `checksum`.
public struct Workload: Sendable {
  /// What an operation does to its object.
  public enum Kind: Int, Sendable {
    case insert
    case update
    case delete
  }

  /// One transaction of one object.
  public struct Operation: Sendable {
    /// The time of the transaction, in microseconds since 1970.
    public var time: Int64
    /// The object, counted from 1 in the order of insertion.
    public var object: Int
    /// The properties that change; none for a delete.
    public var properties: PropertySet
    /// The kind of operation.
    public var kind: Kind
    /// The index of the author in `Vocabulary.authors`.
    public var author: Int
    /// The index of the context in `Vocabulary.contexts`.
    public var context: Int
    /// The whole post after an insert or update, or before a delete.
    public var post: WorkloadPost
  }

  /// The posts of the bulk; the first is object 1.
  public let posts: [WorkloadPost]
  /// The time of the transaction that inserts them.
  public let bulkTime: Int64
  /// The transactions after it.
  public let operations: [Operation]
  /// The number of objects at the end.
  public let liveCount: Int
  /// The number of the last object inserted.
  public let lastObject: Int

  /// Generates the workload of these sizes. O(its size).
  public init(posts postCount: Int = 100_000, operations count: Int = 20_000, seed: UInt64 = 42) {
    var generator = PostGenerator(seed: seed)
    posts = (0..<postCount).map { _ in generator.post() }
    bulkTime =
      PostGenerator.firstMoment + Int64(PostGenerator.days) * PostGenerator.microsecondsOfDay
    var state = GeneratedState(posts: posts)
    var time = bulkTime
    operations = (0..<count).map { _ in
      time += 1 + Int64(generator.random.unit() * 2.6e6)
      return state.next(at: time, &generator)
    }
    liveCount = state.live.count
    lastObject = state.current.count
  }
}

/// The posts as they are after the operations generated so far.
private struct GeneratedState {
  /// The objects, from 1; deleted ones stay.
  var current: [WorkloadPost]
  /// The numbers of those that are not deleted.
  var live: [Int]

  init(posts: [WorkloadPost]) {
    current = posts
    live = Array(1..<posts.count + 1)
  }

  mutating func next(at time: Int64, _ generator: inout PostGenerator) -> Workload.Operation {
    let author = generator.random.below(Vocabulary.authors.count)
    let context = generator.random.below(Vocabulary.contexts.count)
    let choice = generator.random.below(100)
    let kind: Workload.Kind = choice < 70 ? .update : choice < 90 ? .insert : .delete
    var properties: PropertySet = []
    let object: Int
    switch kind {
    case .update:
      object = live[generator.random.below(live.count)]
      properties = change(object, &generator)
    case .insert:
      properties = .ofNewPost
      current.append(generator.post())
      object = current.count
      live.append(object)
    case .delete:
      let place = generator.random.below(live.count)
      object = live[place]
      live[place] = live[live.count - 1]
      live.removeLast()
    }
    return Workload.Operation(
      time: time, object: object, properties: properties, kind: kind, author: author,
      context: context, post: current[object - 1])
  }

  /// Gives one or two properties of an object new values.
  private mutating func change(_ object: Int, _ generator: inout PostGenerator) -> PropertySet {
    let candidates: [PostProperty] = [
      .timestamp, .title, .url, .source, .posted, .latitude, .longitude,
    ]
    let count = 1 + generator.random.below(2)
    var chosen: PropertySet = []
    while chosen.count < count {
      chosen.insert(PropertySet(candidates[generator.random.below(candidates.count)]))
    }
    let new = generator.post()
    var post = current[object - 1]
    if chosen.contains(.timestamp) {
      post.timestamp = new.timestamp == post.timestamp ? new.timestamp + 1 : new.timestamp
    }
    if chosen.contains(.title) {
      post.title =
        new.title == post.title ? (new.title + 1) % Vocabulary.titles.count : new.title
    }
    if chosen.contains(.url) { post.url = new.url }
    if chosen.contains(.source) {
      post.source =
        new.source == post.source ? (new.source + 1) % Vocabulary.sources.count : new.source
    }
    if chosen.contains(.posted) {
      post.posted = new.posted == post.posted ? (new.posted + 1) % 5 : new.posted
    }
    if chosen.contains(.latitude) { post.latitude = new.latitude }
    if chosen.contains(.longitude) { post.longitude = new.longitude }
    current[object - 1] = post
    return chosen
  }
}
