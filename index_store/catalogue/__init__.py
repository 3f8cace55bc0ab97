"""The catalogue, in SQL. Entry point: `catalogue.Catalogue`."""
