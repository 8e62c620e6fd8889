"""What is said of results, as data, sentences, Markdown and a model card's section."""
