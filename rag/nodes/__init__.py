"""The nodes that pipelines share, one module per subject. Modules import only shared helpers from each other."""
