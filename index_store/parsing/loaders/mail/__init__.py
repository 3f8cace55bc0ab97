"""Mails, and web pages that are saved in the form of one."""
