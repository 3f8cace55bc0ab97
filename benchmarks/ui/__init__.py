"""How fast the pages are in a real Chromium, each part compared with something in the same run.

__main__.py    the parts, by name
browser.py     what they share: a page, and times that the page itself measures
served.py      the app with one more route: it asks the engine without a page
"""
