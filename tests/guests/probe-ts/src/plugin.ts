// Does what a test tells it, through everything that a plugin in TypeScript may ask of moss.

import {
  commands,
  content,
  context,
  definePlugin,
  defineTool,
  edits,
  editor,
  files,
  index,
  propose,
  request,
  store,
  t,
  ToolError,
  toolbox,
} from "moss";

const settings = {
  greeting: t.string("How it greets.", { default: "hello" }),
  name: t.string("Whom it greets."),
};

type Step = Record<string, unknown>;

const probe = defineTool(
  {
    name: "probe_ts",
    description: "Does one thing after the other and returns what came of each.",
    parameters: {
      steps: t.array(t.record(t.any()), "Objects with `do` and what that needs."),
      fail: t.boolean("Whether the first error is the tool's own.", { default: false }),
    },
    output: t.array(t.any()),
  },
  async ({ steps, fail }) => {
    const came: unknown[] = [];
    for (const step of steps) {
      try {
        came.push((await take(step)) ?? null);
      } catch (error) {
        if (fail || !(error instanceof ToolError)) {
          throw error;
        }
        came.push({ error: error.code, message: error.message, hint: error.hint });
      }
    }
    return came;
  },
);

async function take(step: Step): Promise<unknown> {
  const text = (key: string) => String(step[key] ?? "");
  switch (step.do) {
    case "get": {
      const response = await fetch(text("url"));
      return { status: response.status, body: await response.text() };
    }
    case "post": {
      const sent = { method: "POST", body: text("body"), headers: { "x-probe": "ts" } };
      const response = await fetch(text("url"), sent);
      return { status: response.status, body: await response.json() };
    }
    case "env":
      return context.env(text("name"));
    case "set":
      return store.setText(text("key"), text("value"));
    case "load":
      return store.getText(text("key"));
    case "delete":
      return store.delete(text("key"));
    case "keys":
      return store.keys(text("prefix"));
    case "call":
      return toolbox.call(text("tool"), step.arguments as object);
    case "symbols":
      return editor.symbols(text("path"))?.map(({ name }) => name);
    case "definitions":
      return editor.definitions(text("path"), { line: 0, character: 0 })?.map(({ path }) => path);
    case "search": {
      const { lines, total } = index.search(text("pattern"));
      const shown = lines.map((one) => `${one.path}:${one.number}:${one.column}:${one.text}`);
      return [...shown, total];
    }
    case "declared":
      return index
        .symbols(...(step.names as string[]))
        .map((one) => `${one.path}:${one.line} ${one.kind} ${one.name}`);
    case "run": {
      const ended = commands.run(step.words as string[]);
      return [ended.exitCode, ended.stdout];
    }
    case "show":
      if (step.image) {
        return content.image(new Uint8Array(step.image as number[]));
      }
      content.text(text("text"));
      content.json({ shown: text("text") });
      return content.link("https://a.example/", text("text"));
    case "settings":
      return context.settings<typeof settings>();
    case "read":
      return files.readText(text("path"));
    case "list":
      return files.list(text("path")).map(({ name, kind }) => `${kind} ${name}`);
    case "find":
      return files.find(text("path"), 10).paths;
    case "log":
      context.progress("logging", 1, 2);
      return context.log("warn", text("message"));
    case "cancelled":
      return context.cancelled();
    case "throw":
      throw new TypeError("as told");
    default:
      throw new ToolError("invalid-arguments", `no step \`${step.do}\``, "see the source");
  }
}

const edit = defineTool(
  {
    name: "edit_ts",
    description: "Proposes one edit of each kind.",
    effect: "write",
    parameters: {
      before: t.string("The text to replace."),
      after: t.string("What replaces it."),
    },
    output: t.object({ edits: t.integer("How many edits.") }),
  },
  ({ before, after }) => {
    const whole = `${files.readText("whole.txt")}${after}\n`;
    const all = [
      edits.replaceText("part.txt", before, after),
      edits.write("whole.txt", whole),
      edits.create("made/new.txt", after),
      edits.delete("gone.txt"),
    ];
    return propose({ edits: all.length }, all);
  },
);

export default definePlugin({
  tools: [probe, edit],
  requests: [
    request.files(".", "to be tested"),
    request.http("*", "to be tested"),
    request.env("GREETING", "to be tested"),
    request.store("1MiB", "to be tested"),
    request.tool("read_file", "to be tested"),
    request.editor("to be tested"),
    request.index("to be tested"),
    request.command("cat *", "to be tested"),
  ],
  settings,
});
