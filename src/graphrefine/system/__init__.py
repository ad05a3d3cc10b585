"""The machine: files, work folders, storage, memory; the version of the package.

For others: outputs in one step, `files.replacing` and `files.replacing_folder`; `work_folder.WorkFolder`;
`storage.open_storage`; `memory.private_bytes` and `memory.available_bytes`; `version`.
"""
