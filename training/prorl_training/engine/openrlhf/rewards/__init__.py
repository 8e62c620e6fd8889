"""The reward tier of a cluster run: replicas of the checker over all nodes, or services by URL, and who asks them."""
