// The official MCP client for Node.js against moss, over HTTP or standard input and output: lists, calls,
// reads a resource, and answers forms. Writes what it saw as JSON.
//
// node client.mjs MODULES REVISION FORM http URL TOKEN, or … stdio MOSS WORKSPACE [OPTION…]

import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, revision, form, kind, ...server] = process.argv.slice(2);

function load(file) {
  return import(pathToFileURL(path.join(modules, "@modelcontextprotocol/client/dist", file)));
}

async function transport() {
  if (kind === "http") {
    const { StreamableHTTPClientTransport } = await load("index.mjs");
    const [url, token] = server;
    const headers = { Authorization: `Bearer ${token}` };
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const { StdioClientTransport } = await load("stdio.mjs");
  const [command, cwd, ...options] = server;
  return new StdioClientTransport({ command, args: ["mcp", ...options], cwd, env: process.env });
}

/** What the person does with a form. */
function filled() {
  switch (form) {
    case "accept":
      return { action: "accept", content: { decision: "allow_once" } };
    case "decline":
      return { action: "decline" };
    default:
      return { action: "cancel" };
  }
}

const { Client } = await load("index.mjs");
const mode = revision === "newest" ? { pin: "2026-07-28" } : "legacy";
const client = new Client(
  { name: "moss-test", version: "1" },
  { capabilities: form === "none" ? {} : { elicitation: { form: {} } }, versionNegotiation: { mode } },
);
const forms = [];
if (form !== "none") {
  client.setRequestHandler("elicitation/create", async (request) => {
    forms.push(request.params.message);
    return filled();
  });
}
await client.connect(await transport());

async function call(name, given) {
  try {
    const result = await client.callTool({ name, arguments: given });
    const { content, structuredContent, isError = false } = result;
    return { content, structuredContent, isError };
  } catch (error) {
    return { thrown: String(error.message) };
  }
}

const listed = await client.listTools();
const seen = {
  revision: client.getNegotiatedProtocolVersion(),
  tools: listed.tools.map((tool) => tool.name),
  // The client holds results to the output schemas of the tools.
  read: await call("read_file", { path: "a.txt" }),
  image: await call("read_file", { path: "dot.png" }),
  missing: await call("read_file", { path: "missing.txt" }),
  unknown: await call("no_such_tool", {}),
  resource: await client.readResource({ uri: "moss://files/a.txt" }),
  created: await call("create_file", { path: "new.txt", content: "new\n" }),
  forms,
};
process.stdout.write(JSON.stringify(seen));
await client.close();
