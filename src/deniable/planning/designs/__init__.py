"""The best mechanism there is, with a certificate."""
