"""For authors of mechanisms: the conformance suite, repeatable coins, and exact laws. Never for real reports."""
