"""The checks: a module for each part of the articles, its claims in the articles' order."""
