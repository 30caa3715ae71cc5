import Annals
import AnnalsReplication
import FlyingFox
import Foundation

/// The accounts over HTTP. A `Position` is a place in the history that all programs share.
struct AccountRoutes: Sendable {
  /// What a client sends to open an account.
  struct Opening: Decodable {
    var balance: Int
  }

  /// What a client sends of a transfer.
  struct Order: Decodable {
    var from: String
    var to: String
    var amount: Int
  }

  let bank: Bank

  func add(to server: HTTPServer) async {
    await server.appendRoute("PUT /accounts/:name") { request in
      try await answer {
        let opening = try JSONDecoder().decode(Opening.self, from: await request.bodyData)
        let account = Account(name: try request.part("name"), balance: opening.balance)
        return .done(at: try await bank.open(account))
      }
    }
    await server.appendRoute("PUT /transfers/:id") { request in
      try await answer {
        let order = try JSONDecoder().decode(Order.self, from: await request.bodyData)
        let transfer = Transfer(
          id: try request.part("id"), from: order.from, to: order.to, amount: order.amount)
        return .done(at: try await bank.make(transfer))
      }
    }
    await server.appendRoute("GET /accounts") { request in
      try await answer {
        let state = try await state(for: request)
        return try .json(
          state.fetch(Fetch(Account.self).sorted(by: \.name)).map(\.value), at: state.token)
      }
    }
    await server.appendRoute("GET /transfers") { request in
      try await answer {
        let state = try await state(for: request)
        return try .json(state.objects(of: Transfer.self).map(\.value), at: state.token)
      }
    }
    await server.appendRoute("GET /transfers/:id") { request in
      try await answer {
        let state = try await state(for: request)
        let id = try request.part("id")
        guard let transfer = try state.object(Transfer.self, where: \.id, is: id) else {
          return .text(.notFound, "there is no transfer \(id)")
        }
        return try .json(transfer.value, at: state.token)
      }
    }
    await server.appendRoute("GET /status") { _ in try .json(Status(bank.replica.status)) }
  }

  /// The state that a request reads: `?after=POSITION` for one's own writes, `?at=POSITION` for the
  /// past.
  private func state(for request: HTTPRequest) async throws -> Snapshot {
    try await bank.state(after: try request.position("after"), at: try request.position("at"))
  }

  /// Runs a request, and answers in HTTP's terms where it is refused.
  private func answer(_ body: () async throws -> HTTPResponse) async throws -> HTTPResponse {
    do {
      return try await body()
    } catch let refusal as Bank.Refusal {
      return .text(.conflict, "\(refusal)")
    } catch is DecodingError {
      return .text(.badRequest, "this is not what is sent here")
    } catch let error as AnnalsError where error.code == .invalidChange {
      return .text(.unprocessableContent, error.message)
    } catch let error as AnnalsError where AccountRoutes.lost.contains(error.code) {
      return .text(.preconditionFailed, error.message)
    } catch let error as ReplicationError where AccountRoutes.passing.contains(error.code) {
      // It may have been made, or not: the client asks again, with the same id.
      return .text(.serviceUnavailable, error.message)
    }
  }

  /// What is said of positions that are not in this history.
  private static let lost: [AnnalsError.Code] = [
    .pruned, .lostBranch, .beyondHead, .otherStore, .invalidArgument,
  ]
  /// What is said while the log is away, or others are faster.
  private static let passing: [ReplicationError.Code] = [
    .unavailable, .contended, .outcomeUnknown, .notInFile,
  ]
}

/// Where this program stands; for whoever looks after it.
private struct Status: Encodable {
  var position: String
  /// How many records of the log it has heard of and not yet applied.
  var lag: UInt64
  /// Why the log could not be reached.
  var outage: String?
  /// Why it cannot go on without somebody's help.
  var failure: String?

  init(_ status: ReplicaStatus) {
    position = status.token.description
    (lag, outage, failure) = (status.lag, status.outage, status.failure?.message)
  }
}

extension HTTPRequest {
  /// A part of the address.
  fileprivate func part(_ name: String) throws -> String { routeParameters[name] ?? "" }

  /// A position that the client got before.
  fileprivate func position(_ name: String) throws -> Token? {
    guard let text = query[name] else { return nil }
    guard let token = Token(text) else {
      throw AnnalsError(.invalidArgument, "\(text) is no position from here")
    }
    return token
  }
}

extension HTTPResponse {
  /// The answer to a write. It is committed when this is sent.
  fileprivate static func done(at token: Token) -> HTTPResponse {
    let headers: HTTPHeaders = [.position: token.description]
    return HTTPResponse(statusCode: .noContent, headers: headers, body: Data())
  }

  fileprivate static func json(
    _ value: some Encodable, at token: Token? = nil
  ) throws -> HTTPResponse {
    var headers: HTTPHeaders = [.contentType: "application/json"]
    if let token { headers[.position] = token.description }
    return HTTPResponse(statusCode: .ok, headers: headers, body: try JSONEncoder().encode(value))
  }

  fileprivate static func text(_ code: HTTPStatusCode, _ text: String) -> HTTPResponse {
    let headers: HTTPHeaders = [.contentType: "text/plain"]
    return HTTPResponse(statusCode: code, headers: headers, body: Data((text + "\n").utf8))
  }
}

extension HTTPHeader {
  fileprivate static let position = HTTPHeader("Position")
}
