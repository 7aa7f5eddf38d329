"""What automated writes leave behind: a commit each, a log of hashes, and the way back."""
