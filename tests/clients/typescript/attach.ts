/**
 * Drives the editor of docs/editors.md: attaches it, has tools called, and reports what it saw.
 *
 * The editor is the code block of the document, written beside this file by the test that runs it.
 * What was seen goes to standard output as one JSON object.
 */

import { readFileSync } from "node:fs";

import * as grpc from "@grpc/grpc-js";

import { Editor, credential, services } from "./example_editor";

const [socket, state, protos] = process.argv.slice(2);
const address = `unix:${socket}`;
const token = (role: string) => readFileSync(`${state}/${role}.token`, "utf8").trim();
const asked: unknown[] = [];
const person = {
  async clarify(question: string, choices: string[]) {
    asked.push([question, choices]);
    return choices[1];
  },
  async confirm(diff: string) {
    asked.push(diff);
    return true;
  },
  over() {},
};

const tools = new (services(protos).ToolService)(
  address, grpc.credentials.createInsecure(), { "grpc.default_authority": "localhost" });

function call(tool: string, toolArguments: object): Promise<any> {
  const request = { call: { tool, arguments_json: JSON.stringify(toolArguments) } };
  const options = { deadline: Date.now() + 60_000 };
  return new Promise((resolve, reject) => {
    tools.CallTool(request, credential(token("caller")), options, (error: unknown, response: any) =>
      error ? reject(error) : resolve(JSON.parse(response.result.output_json)));
  });
}

async function main(): Promise<void> {
  const editor = new Editor(address, protos, token("approver"), person);
  editor.type("a.txt", "unsaved 𝄞\nlast");
  editor.look("a.txt", 1, 2);
  await editor.sync();
  const report = {
    read: (await call("read_file", { path: "a.txt" })).content,
    cursor: (await call("get_cursor_context", {})).focus.line,
    clarified: await call("clarify", { question: "Which?", choices: ["one", "two"] }),
    created: (await call("create_file", { path: "b.txt", content: "new\n" })).path,
    edited: await call("replace_text", { path: "a.txt", oldText: "last", newText: "line\nend" }),
    buffer: editor.buffers.get("a.txt")?.text,
    asked,
  };
  editor.close();
  tools.close();
  console.log(JSON.stringify(report));
}

void main();
