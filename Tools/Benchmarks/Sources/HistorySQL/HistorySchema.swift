import Workload

/// A table of posts whose history is kept by triggers: transactions, changes with the values before
/// and after, and the indexes for reading them.
public enum HistorySchema {
  /// The columns of a post, in the order of its properties.
  public static let columns = PostProperty.allCases.map { "\($0)" }

  /// The statements that make the table of posts.
  public static let table = """
    CREATE TABLE post(id INTEGER PRIMARY KEY, identifier BLOB NOT NULL, timestamp INTEGER NOT NULL,
      title TEXT, url TEXT, source TEXT, image BLOB, posted INTEGER, latitude REAL, longitude REAL);
    CREATE INDEX post_timestamp ON post(timestamp);
    """

  /// The statements that make it all.
  public static var statements: String {
    """
    \(table)
    CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE history_transaction(id INTEGER PRIMARY KEY AUTOINCREMENT,
      timestamp INTEGER NOT NULL, author INTEGER, context INTEGER);
    CREATE INDEX history_timestamp ON history_transaction(timestamp);
    CREATE TABLE change(id INTEGER PRIMARY KEY, transaction_id INTEGER NOT NULL,
      kind INTEGER NOT NULL, object INTEGER NOT NULL, \(list { "before_\($0), after_\($0)" }));
    CREATE INDEX change_transaction ON change(transaction_id);
    CREATE INDEX change_object ON change(object);
    \(trigger("INSERT", kind: 0, object: "NEW.id", after: { "NEW.\($0)" }))
    \(trigger(
      "UPDATE", kind: 1, object: "NEW.id", before: { ifChanged($0, "OLD") },
      after: { ifChanged($0, "NEW") }))
    \(trigger("DELETE", kind: 2, object: "OLD.id", before: { "OLD.\($0)" }))
    \(names)
    """
  }

  /// A trigger that records a change per row, with the number of the newest transaction.
  private static func trigger(
    _ event: String, kind: Int, object: String, before: (String) -> String = { _ in "NULL" },
    after: (String) -> String = { _ in "NULL" }
  ) -> String {
    """
    CREATE TRIGGER post_\(event) AFTER \(event) ON post BEGIN
      INSERT INTO change VALUES(NULL, (SELECT max(id) FROM history_transaction), \(kind),
        \(object), \(list { "\(before($0)), \(after($0))" }));
    END;
    """
  }

  private static func ifChanged(_ column: String, _ side: String) -> String {
    "CASE WHEN OLD.\(column) IS NOT NEW.\(column) THEN \(side).\(column) END"
  }

  private static func list(_ text: (String) -> String) -> String {
    columns.map(text).joined(separator: ", ")
  }

  /// Authors have the numbers from 1, contexts from 11.
  private static var names: String {
    let authors = Vocabulary.authors.enumerated().map { "(\($0 + 1), '\($1)')" }
    let contexts = Vocabulary.contexts.enumerated().map { "(\($0 + 11), '\($1)')" }
    return "INSERT INTO name VALUES \((authors + contexts).joined(separator: ", "));"
  }

  /// The query for all changes after a transaction.
  public static let history = """
    SELECT t.id, t.timestamp, a.text, x.text, c.* FROM history_transaction t
    JOIN name a ON a.id = t.author JOIN name x ON x.id = t.context
    JOIN change c ON c.transaction_id = t.id WHERE t.id > ? ORDER BY t.id, c.id
    """

  /// The query for what undoes all changes after a transaction, newest first: the object, the kind,
  /// and the values before.
  public static var undoing: String {
    """
    SELECT object, kind, \(list { "before_\($0)" }) FROM change WHERE transaction_id > ?
    ORDER BY id DESC
    """
  }

  /// The statements that drop the history up to a transaction; VACUUM gives its space back.
  public static func pruning(through transaction: Int) -> String {
    """
    DELETE FROM change WHERE transaction_id <= \(transaction);
    DELETE FROM history_transaction WHERE id <= \(transaction);
    """
  }
}
