/// The expected state after some of the operations.
public struct WorkloadModel: Sendable {
  /// The objects, from 1; nil where one is deleted or not inserted yet.
  public private(set) var objects: [WorkloadPost?]
  /// The number of existing objects.
  public private(set) var liveCount: Int

  /// The state after the bulk insert.
  public init(_ workload: Workload) {
    objects = workload.posts
    liveCount = workload.posts.count
    objects.reserveCapacity(workload.lastObject)
  }

  /// The state after the first `count` operations.
  public init(_ workload: Workload, after count: Int) {
    self.init(workload)
    for operation in workload.operations.prefix(count) { apply(operation) }
  }

  /// An object; nil if it is deleted or not inserted yet.
  public func post(_ object: Int) -> WorkloadPost? {
    object <= objects.count ? objects[object - 1] : nil
  }

  /// Applies the next operation.
  public mutating func apply(_ operation: Workload.Operation) {
    switch operation.kind {
    case .insert:
      objects.append(operation.post)
      liveCount += 1
    case .update:
      objects[operation.object - 1] = operation.post
    case .delete:
      objects[operation.object - 1] = nil
      liveCount -= 1
    }
  }

  /// A checksum over the objects that exist, in the order of insertion, with their numbers.
  public var checksum: UInt64 {
    var digest = StateDigest()
    for (index, post) in objects.enumerated() {
      if let post { digest.add(object: index + 1, post) }
    }
    return digest.value
  }
}

/// Computes `WorkloadModel.checksum` from what a program reads.
public struct StateDigest: Sendable {
  private var digest = Digest()
  /// The number of objects added.
  public private(set) var count = 0
  /// The checksum.
  public var value: UInt64 { digest.value }

  /// The checksum of the empty state.
  public init() {}

  /// Adds the next object. Numbers must rise.
  public mutating func add(object: Int, _ post: WorkloadPost) {
    digest.add(Int64(object))
    digest.add(post)
    count += 1
  }
}
