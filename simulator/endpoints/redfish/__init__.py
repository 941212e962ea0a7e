"""One node's BMC: its resource tree, and the server that guards it with sessions."""
