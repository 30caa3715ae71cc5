/// The queries of the query phases, and their expected results.
public struct QueryWorkload: Sendable {
  /// The numbers of the existing objects, latest date first, higher number first among equal dates.
  public let byDate: [Int]
  /// The number of objects of each day in UTC, earliest first.
  public let days: [Int]
  private let model: WorkloadModel

  /// The results after all operations.
  public init(_ workload: Workload) {
    let model = WorkloadModel(workload, after: workload.operations.count)
    let live = model.objects.indices.filter { model.objects[$0] != nil }.map { $0 + 1 }
    func date(_ object: Int) -> Int64 { model.post(object)?.timestamp ?? 0 }
    byDate = live.sorted { (date($0), $0) > (date($1), $1) }
    var counts: [Int64: Int] = [:]
    for object in live { counts[date(object) / 86_400_000_000, default: 0] += 1 }
    days = counts.sorted { $0.key < $1.key }.map(\.value)
    self.model = model
  }

  /// Ten boxes around posts, with sides of this many degrees.
  public func boxes(_ degrees: Double) -> [Box] {
    (0..<10).compactMap { index in
      model.post(byDate[index * 9_973 % byDate.count]).map { post in
        Box(
          latitudes: post.latitude - degrees / 2...post.latitude + degrees / 2,
          longitudes: post.longitude - degrees / 2...post.longitude + degrees / 2)
      }
    }
  }

  /// The number of objects in a box, its edges included.
  public func count(in box: Box) -> Int {
    model.objects.count { post in
      guard let post else { return false }
      return box.latitudes ~= post.latitude && box.longitudes ~= post.longitude
    }
  }

  /// A range of latitudes and longitudes.
  public struct Box: Sendable {
    /// Degrees north.
    public let latitudes: ClosedRange<Double>
    /// Degrees east.
    public let longitudes: ClosedRange<Double>
  }
}
