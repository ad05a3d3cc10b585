"""Output for people: reports, plots, the palette, and the templates of every HTML page.

- `report`: the parts of a report, its pages, and its folder.
- `plots`: plots by matplotlib, for light and dark pages.
- `machine`: the provenance of published numbers.
- `html`: the templates in ``templates/``, filled.
- `colors`: the palette.
- `table`: results as named columns, which print, save, and go to pandas, polars and Arrow.

Nothing is imported here, so that a command which needs one of them loads no other.
"""
