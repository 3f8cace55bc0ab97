"""The nodes that pipelines share, by subject: a module imports none of its neighbours but for what they share."""
