"""What the subcommands of `forewarn-model` do: progress on the terminal, files at the end."""
