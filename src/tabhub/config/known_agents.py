"""The agents that `tabhub connect` can connect, by the names that the command takes."""

KNOWN_AGENTS = {
    "claude-code": "Claude Code",
    "claude-desktop": "Claude Desktop",
    "cursor": "Cursor",
    "windsurf": "Windsurf",
    "opencode": "OpenCode",
    "vscode": "VS Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
}
"""With their titles, as people read them."""
