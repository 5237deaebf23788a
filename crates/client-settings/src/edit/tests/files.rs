//! Files of clients as people have them, with comments where the client takes them. The tests of the command read
//! them, too.

/// A file of each client as people have it, in the form of the page that is named: those of the clients' own
/// documentation, in November 2026.
pub(super) const FILES: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        "Claude Code, MCP: the scope `user` in `.claude.json`",
        "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"stdio\",\n      \
         \"command\": \"npx\",\n      \"args\": [\"-y\", \"x\"]\n    }\n  },\n  \"projects\": { \"/a\": {} }\n}\n",
    ),
    (
        "codex",
        "Codex, configuration reference: `mcp_servers`",
        "# Mine.\nmodel = \"o9\" # the best\n\n[mcp_servers.docs]\ncommand = \"npx\" # node\nargs = [\n  \
         \"-y\", # yes\n]\n\n# Where I work.\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    ),
    (
        "vscode",
        "VS Code, MCP configuration reference: `servers`, `inputs`",
        "{\n\t// Servers of mine\n\t\"servers\": {\n\t\t\"docs\": { \"type\": \"http\", \"url\": \
         \"https://x.example\" }, // remote\n\t},\n\t\"inputs\": [],\n}\n",
    ),
    (
        "cursor",
        "Cursor, Model Context Protocol: `mcp.json`",
        "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
    ),
    (
        "zed",
        "Zed, MCP: `context_servers` in the settings",
        "// Zed settings\n//\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    // none yet\n  \
         },\n}\n",
    ),
    (
        "gemini",
        "Gemini CLI, MCP servers: `mcpServers` in `settings.json`",
        "{\n  // look\n  \"ui\": { \"theme\": \"Dark\" }\n}\n",
    ),
    (
        "qwen",
        "Qwen Code, MCP: `mcpServers` in `settings.json`",
        "{\n    // mine\n    \"mcpServers\": {\n        /* none yet */\n    }\n}",
    ),
    (
        "cline",
        "Cline, MCP overview and configuration: `cline_mcp_settings.json`",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\", \"disabled\": true }\n  }\n}\n",
    ),
    (
        "copilot",
        "Copilot CLI, adding MCP servers: `mcp-config.json`",
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"local\",\n      \"command\": \"npx\",\n      \
         \"args\": [\"-y\", \"a\"],\n      \"tools\": [\"*\"]\n    }\n  }\n}\n",
    ),
    ("jetbrains", "Junie, MCP configuration: `mcp.json`", "{ \"mcpServers\": { } }\n"),
    (
        "continue",
        "Continue, `config.yaml` reference: `mcpServers`",
        "name: Local Config\nversion: 1.0.0\nschema: v1\nmodels: # mine\n  - name: GPT\n    provider: openai\n\
         # servers\nmcpServers:\n  # docs first\n  - name: docs\n    command: npx\n    args:\n      - \"-y\"\n\
         rules:\n  - Be brief\n",
    ),
    (
        "opencode",
        "OpenCode V2, MCP servers: `mcp.servers`",
        "{\n  \"$schema\": \"https://schema.example/config.json\",\n  // tools\n  \"mcp\": {\n    \"servers\": {\n      \
         \"a\": { \"type\": \"local\", \"command\": [\"a\"] },\n    },\n  },\n}\n",
    ),
    (
        "goose",
        "Goose, configuration files: `extensions` in `config.yaml`",
        "GOOSE_MODEL: x # the model\nextensions:\n  # built in\n  developer:\n    bundled: true\n    \
         enabled: true\n    type: builtin\n\n  memory:\n    enabled: false\nGOOSE_MODE: auto\n",
    ),
];
