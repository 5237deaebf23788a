// Measures servers of the Model Context Protocol with the official client for Node.js, over standard input
// and output: each call in turns with the others, then starts. The plan comes as a file, the times go out as
// JSON, in nanoseconds.
//
// node measure.mjs MODULES PLAN

import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, plan] = process.argv.slice(2);
const { rounds, warm, starts, servers, calls } = JSON.parse(readFileSync(plan, "utf8"));

function load(file) {
  return import(pathToFileURL(path.join(modules, "@modelcontextprotocol/client/dist", file)));
}

const { Client } = await load("index.mjs");
const { StdioClientTransport } = await load("stdio.mjs");

async function connected({ command, args, cwd, env }) {
  const client = new Client({ name: "moss-bench", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, cwd, env, stderr: "ignore" }));
  return client;
}

async function timed(work) {
  const before = process.hrtime.bigint();
  const result = await work();
  return [Number(process.hrtime.bigint() - before), result];
}

const clients = {};
for (const [name, server] of Object.entries(servers)) {
  clients[name] = await connected(server);
}
// What the bare server returns in place of another: the very result of that call.
for (const { server, tool, given, keeps } of calls.filter((call) => call.keeps)) {
  const result = await clients[server].callTool({ name: tool, arguments: given });
  await clients.echo.callTool({ name: "keep", arguments: { name: keeps, result } });
}
const times = {};
for (let round = -warm; round < rounds; round += 1) {
  for (const { name, server, tool, given, fails } of calls) {
    const ask = { name: tool, arguments: given };
    const [nanoseconds, result] = await timed(() => clients[server].callTool(ask));
    if ((result.isError ?? false) !== fails) {
      throw new Error(`${name}: ${JSON.stringify(result).slice(0, 500)}`);
    }
    if (round >= 0) {
      (times[name] ??= []).push(nanoseconds);
    }
  }
}
await Promise.all(Object.values(clients).map((client) => client.close()));
for (let round = 0; round < starts; round += 1) {
  for (const [name, server] of Object.entries(servers)) {
    const [nanoseconds, client] = await timed(() => connected(server));
    (times[`start ${name}`] ??= []).push(nanoseconds);
    await client.close();
  }
}
process.stdout.write(JSON.stringify(times));
