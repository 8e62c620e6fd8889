"""Reports on results, as data, sentences, Markdown and a section of a model card."""
