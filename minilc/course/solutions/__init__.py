"""The solutions of the exercises, one module a layer; no notebook holds their text."""
