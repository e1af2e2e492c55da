"""The method's calculations as worksheets: which part of a server is its bottleneck, how many clients it carries."""
