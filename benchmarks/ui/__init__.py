"""How fast the pages are in a real Chromium, each part measured beside something of the same run.

__main__.py    the parts, by name
browser.py     what they share: a page, and times that the page itself takes
served.py      the app, with one route more: the engine asked without a page
"""
