import Testing

@testable import AnnalsCommand

/// The names of columns.
@Suite struct TableColumnTests {
  /// Two columns had one name.
  @Test func propertiesNamedAsAColumnOfItsOwn() throws {
    let folder = try CommandFolder()
    try folder.write(
      ##"{"schema":{"entities":[{"name":"E","attributes":[{"name":"code","type":"string","##
        + ##""optional":false,"unique":true},{"name":"entity","type":"string"},"##
        + ##"{"name":"id","type":"int64"}]}]}}"## + "\n"
        + ##"{"changes":[{"op":"insert","entity":"E","id":"k","set":{"entity":"x","id":7}}]}"##
        + "\n"
        + ##"{"changes":[{"op":"insert","entity":"F","id":"l","set":{"entity_":"y","n":1}}]}"##,
      to: "lines")
    #expect(folder.run("import", "@e.annals", "@lines").status == .done)
    #expect(
      folder.run("state", "@e.annals", "--format", "csv").output
        == "entity,id,code,entity_,id_,n\nE,k,k,x,7,\nF,l,,y,,1\n")
    // As in the lines.
    #expect(
      folder.run("get", "@e.annals", "E/k", "--format", "jsonl").output
        == ##"{"code":"k","entity":"E","entity_":"x","id":"k","id_":7}"## + "\n")
    #expect(
      folder.run("query", "@e.annals", "E", "--format", "csv").output
        == "id,code,entity,id_\nk,k,x,7\n")
  }
}
