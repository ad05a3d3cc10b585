"""The machine: threads, files, work folders, storage, memory.

For others: `threads.usable_threads` and `threads.one_blas_thread`; outputs in one step, `files.replacing` and
`files.replacing_folder`; `work_folder.WorkFolder`; `storage.open_storage`; `memory.private_bytes` and
`memory.available_bytes`.
"""
