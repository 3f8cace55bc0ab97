"""Catalogue, vectors and originals together.

library        all changes of several of them
versions       of documents: from pending to ready
data_folder    whose it is, and whether it can be used; opening, how a library is made of it
"""
