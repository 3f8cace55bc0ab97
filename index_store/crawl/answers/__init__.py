"""What the answers of a site say: of which kind they are, where they lead, which pages its sitemap names."""
