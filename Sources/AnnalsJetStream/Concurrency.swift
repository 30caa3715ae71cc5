#if JetStream

import AnnalsReplication

/// Asks for several things at once. Returns the answers in the order of the questions, or throws
/// the first failure in that order.
func atOnce<Question: Sendable, Answer: Sendable>(
  _ questions: some Collection<Question>,
  _ body: @escaping @Sendable (Question) async throws(SharedLogError) -> Answer
) async throws(SharedLogError) -> [Answer] {
  let answers = await withTaskGroup(of: Numbered<Answer>.self) { group in
    for (number, question) in questions.enumerated() {
      group.addTask {
        // In two steps: optimised by Swift 6.3.1, a tuple or a value in one `return` whose later
        // part is made across an `await` comes back with its earlier part lost.
        let result = await outcome(of: question, body)
        return Numbered(number: number, result: result)
      }
    }
    var answers: [Numbered<Answer>] = []
    for await answer in group { answers.append(answer) }
    return answers.sorted { $0.number < $1.number }
  }
  var found: [Answer] = []
  for answer in answers { found.append(try answer.result.get()) }
  return found
}

private struct Numbered<Answer: Sendable>: Sendable {
  let number: Int
  let result: Result<Answer, SharedLogError>
}

private func outcome<Question: Sendable, Answer: Sendable>(
  of question: Question, _ body: @Sendable (Question) async throws(SharedLogError) -> Answer
) async -> Result<Answer, SharedLogError> {
  do throws(SharedLogError) {
    let answer = try await body(question)
    return .success(answer)
  } catch {
    return .failure(error)
  }
}

#endif
