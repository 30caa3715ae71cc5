import Annals

/// What the transactions insert: one object with three properties.
struct Post: Record {
  var title: String
  var day: Int
  var rating: Double
  static let entity = RecordEntity(
    "Post", Post.init, Property("title", \.title), Property("day", \.day),
    Property("rating", \.rating))

  init(title: String, day: Int, rating: Double) {
    self.title = title
    self.day = day
    self.rating = rating
  }

  init(_ number: Int) {
    self.init(title: "Post number \(number)", day: number % 365, rating: Double(number % 50) / 10)
  }
}
