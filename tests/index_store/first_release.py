"""Data as the first release has written it."""

FIRST = """
CREATE TABLE indexes (id VARCHAR(32) NOT NULL, name VARCHAR(64) NOT NULL, embedding_model VARCHAR NOT NULL,
    dimension INTEGER NOT NULL, collection VARCHAR(64) NOT NULL, PRIMARY KEY (id), UNIQUE (name));
CREATE TABLE leftovers (collection VARCHAR(64) NOT NULL, document_id VARCHAR(32) NOT NULL, revision INTEGER NOT NULL,
    chunks INTEGER NOT NULL, PRIMARY KEY (collection, document_id, revision));
CREATE TABLE documents (id VARCHAR(32) NOT NULL, index_id VARCHAR(32) NOT NULL, source TEXT NOT NULL,
    title TEXT NOT NULL, kind VARCHAR NOT NULL, size INTEGER NOT NULL, status VARCHAR NOT NULL, error JSON,
    fingerprint VARCHAR(64) NOT NULL, revision INTEGER NOT NULL, sections INTEGER NOT NULL, chunks INTEGER NOT NULL,
    added_at DATETIME NOT NULL, PRIMARY KEY (id), UNIQUE (index_id, source),
    FOREIGN KEY(index_id) REFERENCES indexes (id) ON DELETE CASCADE);
CREATE TABLE sections (id VARCHAR NOT NULL, document_id VARCHAR(32) NOT NULL, position INTEGER NOT NULL,
    headings JSON NOT NULL, page INTEGER, text TEXT NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE);
CREATE INDEX ix_sections_document_id ON sections (document_id);
CREATE TABLE chunks (id VARCHAR NOT NULL, section_id VARCHAR NOT NULL, position INTEGER NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, headings JSON NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(section_id) REFERENCES sections (id) ON DELETE CASCADE);
CREATE INDEX ix_chunks_section_id ON chunks (section_id);
"""
"""the catalogue of version 0.1.0"""
