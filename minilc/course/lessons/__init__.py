"""The exercises and quizzes of each layer, one module a layer; the guide is in `exercises`."""
