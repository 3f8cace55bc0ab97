"""Originals: documents as they came. In the data folder, or where ORIGINALS_URL says: in another folder or in S3."""
