// What the modules of the contract look like in JavaScript: `guest.wit` and `moss:plugin`, as far as
// `moss.ts` uses them.

declare module "moss:plugin/context@0.2.0" {
  export function log(level: "debug" | "info" | "warn" | "error", message: string): void;
  export function progress(message: string, done: bigint, total: bigint | undefined): void;
  export function cancelled(): boolean;
  export function settings(): string;
}

declare module "moss:plugin/editor@0.2.0" {
  type Position = { line: number; character: number };
  type Range = { start: Position; end: Position };
  type EditorSymbol = {
    name: string;
    kind: string;
    range: Range;
    nameRange: Range;
    depth: number;
  };
  export function symbols(path: string): EditorSymbol[] | undefined;
  export function definitions(
    path: string,
    position: Position,
    kind: "definition" | "type-definition",
  ): { path: string; range: Range }[] | undefined;
}

declare module "moss:plugin/store@0.2.0" {
  export function get(key: string): Uint8Array | undefined;
  export function set(key: string, value: Uint8Array): void;
  const remove: (key: string) => boolean;
  export { remove as delete };
  export function keys(prefix: string): string[];
}

declare module "moss:plugin/toolbox@0.2.0" {
  export function call(name: string, parameters: string): string;
}

declare module "moss:plugin/commands@0.2.0" {
  type Ended = {
    exitCode: number | undefined;
    signal: number | undefined;
    stdout: string;
    stderr: string;
    truncated: boolean;
    changed: string[];
    notes: string[];
  };
  export function run(command: { words: string[]; directory: string | undefined }): Ended;
}

declare module "moss:plugin/content@0.2.0" {
  type Part =
    | { tag: "text"; val: string }
    | { tag: "json"; val: string }
    | { tag: "image"; val: Uint8Array }
    | { tag: "link"; val: { uri: string; name: string } };
  export function add(part: Part): void;
}

declare module "moss:plugin/index@0.2.0" {
  type Query = {
    pattern: string;
    caseSensitive: boolean;
    fileTypes: string | undefined;
    linesMax: number;
  };
  type Line = { path: string; number: bigint; column: bigint; text: string };
  type Found = {
    lines: Line[];
    total: bigint;
    filesMatched: bigint;
    filesSearched: bigint;
    truncated: boolean;
  };
  type Declaration = {
    path: string;
    line: number;
    endLine: number;
    name: string;
    kind: string;
    container: string | undefined;
  };
  export function search(query: Query): Found;
  export function symbols(names: string[]): Declaration[];
}

declare module "wasi:cli/environment@0.2.6" {
  export function getEnvironment(): [string, string][];
}

declare module "wasi:filesystem/types@0.2.6" {
  export interface Descriptor {
    read(length: bigint, offset: bigint): [Uint8Array, boolean];
    readDirectory(): {
      readDirectoryEntry(): { type: string; name: string } | undefined;
    };
    getType(): string;
    openAt(
      pathFlags: { symlinkFollow?: boolean },
      path: string,
      openFlags: { directory?: boolean },
      flags: { read?: boolean },
    ): Descriptor;
  }
}

declare module "wasi:filesystem/preopens@0.2.6" {
  import type { Descriptor } from "wasi:filesystem/types@0.2.6";
  export function getDirectories(): [Descriptor, string][];
}

// Set by the build, out of package.json.
declare const MOSS_PACKAGE: { name: string; version: string };
