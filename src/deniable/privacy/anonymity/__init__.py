"""Reports without their senders: oblivious HTTP, and tokens that admit a person once and name nobody."""
