"""The machine: files, work folders, storage, memory; the version of the package."""
