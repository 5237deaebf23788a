// Says what differs between two JSON files. The order of keys and the layout do not count.

import { definePlugin, defineTool, files, request, t, ToolError } from "moss";

const DIFFERENCES_MAX = 500;
const DEPTH_MAX = 64;

type Difference = {
  pointer: string;
  kind: "added" | "removed" | "changed";
  before?: unknown;
  after?: unknown;
};

const jsonDiff = defineTool(
  {
    name: "json_diff",
    title: "Compare JSON files",
    description:
      "Says what differs between two JSON files, by JSON pointer: values that were added, removed or " +
      "changed. The order of keys and the layout do not count; lists are compared by position. Up to " +
      "500 differences.",
    parameters: {
      before: t.string("The older file, relative to the workspace."),
      after: t.string("The newer file, relative to the workspace."),
    },
    output: t.object({
      equal: t.boolean("Whether both hold the same."),
      differences: t.array(
        t.object({
          pointer: t.string("Where it is."),
          kind: t.oneOf(["added", "removed", "changed"], "What happened to the value."),
          before: t.optional(t.any("The value in the older file.")),
          after: t.optional(t.any("The value in the newer file.")),
        }),
        "What differs, in the order of pointers.",
      ),
      truncated: t.boolean("Whether there are more differences than listed."),
    }),
    idempotent: true,
    examples: [
      {
        title: "a value changed and a key came",
        arguments: { before: "a.json", after: "b.json" },
        files: { "a.json": '{"a": 1, "b": [1, 2]}\n', "b.json": '{"b": [1, 3], "a": 1, "c": null}\n' },
        output: {
          equal: false,
          differences: [
            { pointer: "/b/1", kind: "changed", before: 2, after: 3 },
            { pointer: "/c", kind: "added", after: null },
          ],
          truncated: false,
        },
      },
      {
        title: "only the layout differs",
        arguments: { before: "a.json", after: "b.json" },
        files: { "a.json": '{"a": 1, "b": 2}\n', "b.json": '{\n  "b": 2,\n  "a": 1\n}\n' },
        output: { equal: true, differences: [], truncated: false },
      },
    ],
  },
  ({ before, after }) => {
    const found: Difference[] = [];
    compare("", read(before), read(after), found, 0);
    const truncated = found.length > DIFFERENCES_MAX;
    const differences = found.slice(0, DIFFERENCES_MAX);
    return { equal: found.length === 0, differences, truncated };
  },
);

function read(path: string): unknown {
  const text = files.readText(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError("failed", `${path}: not JSON: ${(error as Error).message}`);
  }
}

function compare(
  pointer: string,
  before: unknown,
  after: unknown,
  found: Difference[],
  depth: number,
): void {
  if (depth > DEPTH_MAX) {
    throw new ToolError("limit-exceeded", `${pointer}: nested deeper than ${DEPTH_MAX} levels`);
  }
  // One above the bound shows that there are more.
  if (found.length > DIFFERENCES_MAX) {
    return;
  }
  const [older, newer] = [children(before), children(after)];
  if (older === undefined || newer === undefined || Array.isArray(before) !== Array.isArray(after)) {
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      found.push({ pointer, kind: "changed", before, after });
    }
    return;
  }
  const keys = new Set([...older.keys(), ...newer.keys()]);
  for (const key of Array.isArray(before) ? keys : [...keys].sort()) {
    const at = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!newer.has(key)) {
      found.push({ pointer: at, kind: "removed", before: older.get(key) });
    } else if (!older.has(key)) {
      found.push({ pointer: at, kind: "added", after: newer.get(key) });
    } else {
      compare(at, older.get(key), newer.get(key), found, depth + 1);
    }
  }
}

function children(value: unknown): Map<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

export default definePlugin({
  tools: [jsonDiff],
  requests: [request.files(".", "reads the two files that it compares")],
});
