// The official MCP client for Node.js against moss, over HTTP or standard input and output: lists, calls,
// reads a resource, and answers forms. Writes what it saw as JSON. REVISION is `session`, `newest`, or `older`
// for the SDK before it.
//
// node client.mjs MODULES REVISION FORM http URL TOKEN, or … stdio MOSS WORKSPACE [OPTION…]

import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, revision, form, kind, ...server] = process.argv.slice(2);

const isOlder = revision === "older";

/** Loads a part of the client, by its file in the newer SDK and in the older one. */
function load(file, older) {
  const packaged = isOlder ? `sdk/dist/esm/${older}` : `client/dist/${file}`;
  return import(pathToFileURL(path.join(modules, "@modelcontextprotocol", packaged)));
}

async function transport() {
  if (kind === "http") {
    const { StreamableHTTPClientTransport } = await load("index.mjs", "client/streamableHttp.js");
    const [url, token] = server;
    const headers = { Authorization: `Bearer ${token}` };
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const { StdioClientTransport } = await load("stdio.mjs", "client/stdio.js");
  const [command, cwd, ...options] = server;
  return new StdioClientTransport({ command, args: ["mcp", ...options], cwd, env: process.env });
}

/** What the person does with a form. */
function filled(schema) {
  switch (form) {
    case "accept":
      return "answer" in schema.properties
        ? { action: "accept", content: { answer: "tabs" } }
        : { action: "accept", content: { decision: "allow_once" } };
    case "decline":
      return { action: "decline" };
    case "silent":
      // Nobody decides. A question is closed, so that the client gets on.
      return "answer" in schema.properties ? { action: "cancel" } : new Promise(() => {});
    default:
      return { action: "cancel" };
  }
}

const { Client } = await load("index.mjs", "client/index.js");
const mode = revision === "newest" ? { pin: "2026-07-28" } : "legacy";
const client = new Client(
  { name: "moss-test", version: "1" },
  { capabilities: form === "none" ? {} : { elicitation: { form: {} } }, versionNegotiation: { mode } },
);
const forms = [];
if (form !== "none") {
  const request = isOlder ? (await load("", "types.js")).ElicitRequestSchema : "elicitation/create";
  client.setRequestHandler(request, async ({ params }) => {
    forms.push(params.message);
    return filled(params.requestedSchema);
  });
}
const connection = await transport();
let negotiated;
if (isOlder) {
  // The client says to its transport what it has agreed on, and to nobody else.
  const passOn = connection.setProtocolVersion?.bind(connection);
  connection.setProtocolVersion = (version) => {
    negotiated = version;
    passOn?.(version);
  };
}
await client.connect(connection);

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
  revision: negotiated ?? client.getNegotiatedProtocolVersion(),
  tools: listed.tools.map((tool) => tool.name),
  // The client holds results to the output schemas of the tools.
  read: await call("read_file", { path: "a.txt" }),
  image: await call("read_file", { path: "dot.png" }),
  missing: await call("read_file", { path: "missing.txt" }),
  unknown: await call("no_such_tool", {}),
  // A tool that the set does not list.
  through: await call("find_tools", { name: "todo", arguments: {} }),
  resource: await client.readResource({ uri: "moss://files/a.txt" }),
  clarified: await call("clarify", { question: "Tabs?", choices: ["tabs", "spaces"] }),
  created: await call("create_file", { path: "new.txt", content: "new\n" }),
  forms,
};
process.stdout.write(JSON.stringify(seen));
await client.close();
