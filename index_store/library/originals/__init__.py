"""Documents as they came: files of the data folder or, where ORIGINALS_URL says so, of another folder or of S3."""
