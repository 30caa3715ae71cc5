import Foundation
import PackagePlugin

/// Makes Swift of the files of the folder `Page`, whenever one of them changes.
@main
struct EmbedPage: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = context.package.directoryURL.appending(path: "Page")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
    let made = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
    return [
      .buildCommand(
        displayName: "Embedding the page",
        executable: try context.tool(named: "embed-page").url,
        arguments: [folder.path, made.path], inputFiles: [folder] + files, outputFiles: [made])
    ]
  }
}
