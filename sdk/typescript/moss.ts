/// <reference path="./contract.d.ts" />
// Tools for moss: what an author imports. A tool is a function with a description and schemas;
// `definePlugin` makes a plugin of several. It writes nothing: it returns the edits that it proposes.

import * as hostCommands from "moss:plugin/commands@0.2.0";
import * as hostContent from "moss:plugin/content@0.2.0";
import * as host from "moss:plugin/context@0.2.0";
import * as hostEditor from "moss:plugin/editor@0.2.0";
import * as hostIndex from "moss:plugin/index@0.2.0";
import * as hostStore from "moss:plugin/store@0.2.0";
import * as hostToolbox from "moss:plugin/toolbox@0.2.0";
import { getEnvironment } from "wasi:cli/environment@0.2.6";
import { fromHost, ToolError, toWire } from "./error.ts";
import "./fetch.ts";
import { t, withDefaults } from "./schema.ts";
import type { ObjectOf, Schema, Shape } from "./schema.ts";

export { ToolError } from "./error.ts";
export type { ErrorCode } from "./error.ts";
export * as files from "./files.ts";
export { t } from "./schema.ts";
export type { ObjectOf, OptionalSchema, Schema, Shape } from "./schema.ts";

/** One proposed change. A file has one, or several `edits.replaceText` that do not overlap. */
export type Edit = { readonly tag: string; readonly val: object };

/** What a tool of the effect `write` returns. */
export interface Proposed<T> {
  /** What the model reads once the edits are done. */
  readonly output: T;
  /** The edits, in order. */
  readonly edits: readonly Edit[];
}

/** A call that shows what a tool does. `moss plugin test` runs it. */
export interface Example<P, T> {
  /** What it shows. */
  title: string;
  /** The arguments. */
  arguments: P;
  /** The workspace in which it runs: paths and texts. */
  files?: Record<string, string>;
  /** The output. Leave it out where it is not always the same. */
  output?: T;
  /** The files that it changes or makes, as they are afterwards. */
  changed?: Record<string, string>;
}

/** What clients may show people about a tool. Nothing is decided by it. */
export interface Annotations {
  /** Whether it may destroy something. */
  destructive?: boolean;
  /** Whether a second call with the same arguments changes nothing more. */
  idempotent?: boolean;
  /** Whether it deals with a world outside the workspace, such as the network. */
  openWorld?: boolean;
}

/** What a tool says about itself. */
export interface ToolOptions<P extends Shape, T, E extends "read" | "write"> extends Annotations {
  /** The name that calls it: a letter, then letters, digits, `_` or `-`. */
  name: string;
  /** A short name for lists. By default the name, in words. */
  title?: string;
  /** What it does, for models and people, with defaults and bounds. */
  description: string;
  /** `write` for a tool that proposes edits. By default `read`. */
  effect?: E;
  /** What it takes. */
  parameters?: P;
  /** What it returns. */
  output: Schema<T>;
  /** Calls that show what it does. */
  examples?: Example<Given<P>, T>[];
}

/** The arguments as a caller writes them: what has a default may be left out. */
type Given<P extends Shape> = Partial<ObjectOf<P>>;

type Awaitable<T> = T | Promise<T>;

/** A tool. */
export interface Tool {
  /** @internal */
  readonly wire: WireTool;
  /** @internal */
  readonly run: (parameters: unknown) => Awaitable<unknown>;
}

interface WireTool {
  name: string;
  title: string;
  description: string;
  effect: "read" | "write";
  parameters: string;
  output: string;
  annotations: Annotations;
  examples: object[];
}

/** Defines a tool. The function gets arguments that fit, with their defaults; it may be async. */
export function defineTool<
  const P extends Shape,
  T,
  const E extends "read" | "write" = "read",
>(
  options: ToolOptions<P, T, E>,
  run: (parameters: ObjectOf<P>) => Awaitable<E extends "write" ? Proposed<T> : T>,
): Tool {
  const { name, description, effect, destructive, idempotent, openWorld } = options;
  const parameters = t.object(options.parameters ?? {}).json;
  return {
    wire: {
      name,
      title: options.title ?? inWords(name),
      description,
      effect: effect ?? "read",
      parameters: JSON.stringify(parameters),
      output: JSON.stringify(options.output.json),
      annotations: { destructive, idempotent, openWorld },
      examples: (options.examples ?? []).map((example) => ({
        title: example.title,
        arguments: JSON.stringify(example.arguments),
        files: wireFiles(example.files),
        output: example.output === undefined ? undefined : JSON.stringify(example.output),
        changed: wireFiles(example.changed),
      })),
    },
    run: (given) => run(withDefaults(parameters, given) as ObjectOf<P>),
  };
}

/** Returns edits and what is said about them, from a tool of the effect `write`. */
export function propose<T>(output: T, edits: readonly Edit[]): Proposed<T> {
  return { output, edits };
}

/** Makes edits. Paths are relative to the workspace. */
export const edits = {
  /** Makes a new file and its missing parent directories. The path must not exist. */
  create: (path: string, content: string): Edit => ({ tag: "create", val: { path, content } }),

  /** Replaces the whole text of a file; with a BLAKE3 hash, only if that is what it holds. */
  write: (path: string, content: string, expectedHash?: string): Edit => ({
    tag: "write",
    val: { path, content, expectedHash },
  }),

  /** Replaces a text that occurs exactly once in a file. */
  replaceText: (path: string, oldText: string, newText: string): Edit => ({
    tag: "replace-text",
    val: { path, oldText, newText },
  }),

  /** Removes a file; with a BLAKE3 hash, only if that is what it holds. */
  delete: (path: string, expectedHash?: string): Edit => ({
    tag: "delete",
    val: { path, expectedHash },
  }),
};

/** Something that a plugin asks to be allowed. */
export type Request = { readonly kind: string; readonly scope: string; readonly reason: string };

/** Requests. The reason is shown to the person who grants it. */
export const request = {
  /** To read a file or a directory; `.` asks for whatever the user grants. */
  files: (path: string, reason: string): Request => ({ kind: "fs", scope: path, reason }),
  /** To reach a host with `fetch`, such as `api.example.com`; `*` asks for whatever is granted. */
  http: (host: string, reason: string): Request => ({ kind: "http", scope: host, reason }),
  /** To see a variable of the environment. */
  env: (name: string, reason: string): Request => ({ kind: "env", scope: name, reason }),
  /** To keep values; the most bytes of all keys and values together, such as `1MiB`. */
  store: (size: string, reason: string): Request => ({ kind: "store", scope: size, reason }),
  /** To call a tool of moss that only reads. */
  tool: (name: string, reason: string): Request => ({ kind: "tool", scope: name, reason }),
  /** To ask the person's editor for symbols and definitions. */
  editor: (reason: string): Request => ({ kind: "editor", scope: "symbols", reason }),
  /** To search the texts of the workspace. */
  index: (reason: string): Request => ({ kind: "index", scope: "search", reason }),
  /** To run a command with exactly these words, such as `git rev-parse HEAD`; `*` is one word. */
  command: (words: string, reason: string): Request => ({ kind: "command", scope: words, reason }),
};

/** What a plugin is. Its name and version are those in package.json. */
export interface PluginOptions {
  /** Its tools. */
  tools: Tool[];
  /** What it asks to be allowed. */
  requests?: Request[];
  /** What the user may set in `config` of its entry in moss-tools.json. */
  settings?: Shape;
}

/** Makes a plugin of tools. Export it as the default of the package's main file. */
export function definePlugin({ tools, requests = [], settings }: PluginOptions) {
  settingsSchema = settings && t.object(settings).json;
  const describe = () => ({
    ...MOSS_PACKAGE,
    capabilities: requests,
    settings: settingsSchema && JSON.stringify(settingsSchema),
    tools: tools.map((tool) => tool.wire),
  });
  const call = async (name: string, parameters: string) => {
    try {
      const tool = tools.find((tool) => tool.wire.name === name);
      if (tool === undefined) {
        throw new ToolError("failed", `the plugin has no tool \`${name}\``);
      }
      const returned = await tool.run(JSON.parse(parameters));
      const proposed = tool.wire.effect === "write";
      const { output, edits } = proposed
        ? (returned as Proposed<unknown>)
        : { output: returned, edits: [] };
      return { output: JSON.stringify(output ?? null), edits };
    } catch (error) {
      throw toWire(error);
    }
  };
  return { describe, call };
}

let settingsSchema: object | undefined;

/** What a tool may ask of moss while it runs. */
export const context = {
  /** Writes a message to the log of the call. */
  log: (level: "debug" | "info" | "warn" | "error", message: string): void =>
    host.log(level, message),

  /** Reports progress to watchers: what is being done, steps done, and steps in all where it is known. */
  progress: (message: string, done: number, total?: number): void =>
    host.progress(message, BigInt(done), total === undefined ? undefined : BigInt(total)),

  /** Whether the call is no longer wanted; a long loop asks this to stop early. */
  cancelled: (): boolean => host.cancelled(),

  /** Reads the settings that the user gave the plugin, with their defaults. */
  settings: <S extends Shape>(): ObjectOf<S> =>
    withDefaults(settingsSchema ?? {}, JSON.parse(host.settings())) as ObjectOf<S>,

  /** Reads a variable of the environment that was granted. */
  env: (name: string): string | undefined =>
    getEnvironment().find(([key]) => key === name)?.[1],
};

/** A few values that outlive the call: the plugin's own, apart for every workspace. */
export const store = {
  /** Returns the value of a key. */
  get: (key: string): Uint8Array | undefined => fromHost(() => hostStore.get(key)),

  /** Keeps a value. */
  set: (key: string, value: Uint8Array): void => fromHost(() => hostStore.set(key, value)),

  /** Returns the value of a key that is a text. */
  getText(key: string): string | undefined {
    const value = store.get(key);
    return value && new TextDecoder().decode(value);
  },

  /** Keeps a text. */
  setText: (key: string, text: string): void => store.set(key, new TextEncoder().encode(text)),

  /** Forgets a key. Returns whether there was one. */
  delete: (key: string): boolean => fromHost(() => hostStore.delete(key)),

  /** Returns the keys that start with a text, in bytewise order. */
  keys: (prefix = ""): string[] => fromHost(() => hostStore.keys(prefix)),
};

/** Other tools of moss, as far as they only read. */
export const toolbox = {
  /** Runs a tool and returns its output. */
  call: (name: string, parameters: object): unknown =>
    JSON.parse(fromHost(() => hostToolbox.call(name, JSON.stringify(parameters)))),
};

/** What the person's editor knows; nothing where there is none. Positions count from 0, in UTF-16. */
export const editor = {
  /** Returns the symbols of a file, each followed by those inside of it. */
  symbols: (path: string) => fromHost(() => hostEditor.symbols(path)),

  /** Returns where the symbol at a position is defined. */
  definitions: (
    path: string,
    position: { line: number; character: number },
    kind: "definition" | "type-definition" = "definition",
  ) => fromHost(() => hostEditor.definitions(path, position, kind)),
};

/** The texts of the workspace and what they declare, searched through the index of moss. */
export const index = {
  /** Returns the lines that match a regular expression, of the files that may be read. */
  search(
    pattern: string,
    options: { caseSensitive?: boolean; fileTypes?: string; linesMax?: number } = {},
  ) {
    const { caseSensitive = false, fileTypes, linesMax = 100 } = options;
    const query = { pattern, caseSensitive, fileTypes, linesMax };
    const found = fromHost(() => hostIndex.search(query));
    return {
      lines: found.lines.map(({ path, number, column, text }) => ({
        path,
        number: Number(number),
        column: Number(column),
        text,
      })),
      total: Number(found.total),
      filesMatched: Number(found.filesMatched),
      filesSearched: Number(found.filesSearched),
      truncated: found.truncated,
    };
  },
  /** Returns what declares one of the names, exactly, of the files that may be read. */
  symbols: (...names: string[]) => fromHost(() => hostIndex.symbols(names)),
};

/** Commands of the machine, in the sandbox of moss. */
export const commands = {
  /** Runs a command and waits for its end. */
  run: (words: string[], directory?: string) =>
    fromHost(() => hostCommands.run({ words, directory })),
};

/** What the result shows beside its output, to whoever called. Needs no capability. */
export const content = {
  /** Shows a text for models and people. */
  text: (text: string): void => fromHost(() => hostContent.add({ tag: "text", val: text })),

  /** Shows a value for programs, which models read as text. */
  json: (value: unknown): void =>
    fromHost(() => hostContent.add({ tag: "json", val: JSON.stringify(value ?? null) })),

  /** Shows an image: the bytes of a PNG, JPEG, GIF or WebP file, at most 3 MiB. */
  image: (data: Uint8Array): void => fromHost(() => hostContent.add({ tag: "image", val: data })),

  /** Shows a link: an address (`https://`, `http://`, `moss://`) and what it leads to in a few words. */
  link: (uri: string, name: string): void =>
    fromHost(() => hostContent.add({ tag: "link", val: { uri, name } })),
};

function inWords(name: string): string {
  const words = name.replace(/[_-]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function wireFiles(files: Record<string, string> = {}) {
  return Object.entries(files).map(([path, content]) => ({ path, content }));
}
