// `import Annals` alone is enough for clients: the public types of the model belong to this module
// too.
@_exported import AnnalsEngine
@_exported import AnnalsModel
@_exported import AnnalsRecords
