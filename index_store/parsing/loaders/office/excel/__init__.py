"""Excel workbooks (.xlsx), and numbers as Excel shows them."""
