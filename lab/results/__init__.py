"""What a plan's runs add up to: the comparison matrix, its picture, its table and its verdict in words.

Pure functions over frozen values: `summarise` makes a `Matrix`; `render_matrix`, `matrix_table` and `verdict` show it.
"""
