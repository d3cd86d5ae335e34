"""Reports after each boot that nothing is configured on this node yet, so that it is configured (cfs-flows 6.1).

Needs Python 3.6 or later and nothing else: the images of nodes are older than the servers.
"""
