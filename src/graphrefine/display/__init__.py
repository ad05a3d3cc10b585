"""What people look at: reports, plots, the one palette, and the templates of every HTML page.

- `report`: the parts of a report; `report_folder` makes its pages, checks and writes its folder.
- `plots`: plots by matplotlib, for light and dark pages.
- `machine`: the provenance of figures.
- `html`: the templates in ``templates/``, filled.
- `colors`: the palette.
- `table`: answers as named columns, which print, save, and go to pandas, polars and Arrow; `table_files` writes them.

Nothing is imported here, so that a command which needs one of them loads no other.
"""
