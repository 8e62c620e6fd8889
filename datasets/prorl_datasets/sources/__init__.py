"""Where rows come from: files, hub data sets, generators."""
