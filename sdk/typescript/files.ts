// Files, beneath what was granted, by their paths in the workspace. Nothing can be written.

import { getDirectories } from "wasi:filesystem/preopens@0.2.6";
import type { Descriptor } from "wasi:filesystem/types@0.2.6";
import { cancelled } from "moss:plugin/context@0.2.0";
import { payload, ToolError } from "./error.ts";
import type { ErrorCode } from "./error.ts";

/** What a directory holds. */
export interface Entry {
  /** Its name in the directory. */
  name: string;
  /** What it is. */
  kind: "file" | "directory" | "other";
}

const BYTES_MAX = 16 << 20;
const CHUNK = 1 << 20;
const DEPTH_MAX = 64;
const LEFT_OUT = ["target", "node_modules"];

/** Reads a file of at most 16 MiB, or of `bytesMax`. */
export function readBytes(path: string, bytesMax = BYTES_MAX): Uint8Array {
  return told(path, () => {
    const file = open(path, false);
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let atEnd = false; !atEnd; ) {
      const [part, end] = file.read(BigInt(CHUNK), BigInt(length));
      parts.push(part);
      length += part.length;
      if (length > bytesMax) {
        throw new ToolError("too-large", `${path}: larger than ${bytesMax} bytes`);
      }
      atEnd = end || part.length === 0;
    }
    const bytes = new Uint8Array(length);
    let offset = 0;
    for (const part of parts) {
      bytes.set(part, offset);
      offset += part.length;
    }
    return bytes;
  });
}

/** Reads a text file in UTF-8 of at most 16 MiB, or of `bytesMax`. */
export function readText(path: string, bytesMax = BYTES_MAX): string {
  const bytes = readBytes(path, bytesMax);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError("encoding", `${path}: not UTF-8 text`);
  }
}

/** Returns what a directory holds, by name. */
export function list(path: string): Entry[] {
  return told(path, () => {
    const stream = open(path, true).readDirectory();
    const entries: Entry[] = [];
    for (let entry = stream.readDirectoryEntry(); entry; entry = stream.readDirectoryEntry()) {
      const { name, type } = entry;
      const kind = type === "regular-file" ? "file" : type === "directory" ? type : "other";
      entries.push({ name, kind });
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/**
 * Finds the files beneath a directory, in order; a file is its own only result. Links are not
 * followed; names that start with a dot and directories named `target` or `node_modules` are left
 * out. `truncated` shows whether there are more than `filesMax`.
 */
export function find(path: string, filesMax: number): { paths: string[]; truncated: boolean } {
  const found = { paths: [] as string[], truncated: false };
  const start = parts(path).join("/") || ".";
  if (told(path, () => open(path, false).getType()) === "directory") {
    descend(start, 0, filesMax, found);
  } else {
    found.paths.push(start);
  }
  return found;
}

function descend(
  directory: string,
  depth: number,
  filesMax: number,
  found: { paths: string[]; truncated: boolean },
): void {
  if (depth > DEPTH_MAX) {
    const message = `${directory}: more than ${DEPTH_MAX} directories deep`;
    throw new ToolError("limit-exceeded", message);
  }
  if (cancelled()) {
    throw new ToolError("cancelled", "cancelled");
  }
  let entries: Entry[] = [];
  try {
    entries = list(directory);
  } catch (error) {
    if (depth === 0) {
      throw error;
    }
  }
  for (const { name, kind } of entries) {
    if (found.truncated) {
      return;
    }
    const path = directory === "." ? name : `${directory}/${name}`;
    if (name.startsWith(".")) {
      continue;
    }
    if (kind === "directory" && !LEFT_OUT.includes(name)) {
      descend(path, depth + 1, filesMax, found);
    } else if (kind === "file") {
      found.truncated = found.paths.length === filesMax;
      if (!found.truncated) {
        found.paths.push(path);
      }
    }
  }
}

/** Opens a path beneath the granted directory that is nearest to it. */
function open(path: string, directory: boolean): Descriptor {
  const wanted = parts(path);
  let nearest: { descriptor: Descriptor; depth: number } | undefined;
  for (const [descriptor, name] of getDirectories()) {
    const root = parts(name);
    const isWithin = root.every((part, index) => wanted[index] === part);
    if (isWithin && root.length >= (nearest?.depth ?? 0)) {
      nearest = { descriptor, depth: root.length };
    }
  }
  if (nearest === undefined) {
    throw notFound(path);
  }
  const beneath = wanted.slice(nearest.depth).join("/") || ".";
  return nearest.descriptor.openAt({ symlinkFollow: true }, beneath, { directory }, { read: true });
}

function parts(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function notFound(path: string): ToolError {
  // moss says to the caller who withholds what.
  return new ToolError("not-found", `${path}: no such file or directory`);
}

const CODES: Record<string, [ErrorCode, string]> = {
  "is-directory": ["not-a-file", "is a directory"],
  "not-directory": ["not-a-directory", "not a directory"],
  access: ["denied", "not allowed"],
  "not-permitted": ["denied", "not allowed"],
};

function told<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ToolError) {
      throw error;
    }
    const reason = String(payload(error));
    if (reason === "no-entry") {
      throw notFound(path);
    }
    const [code, what] = CODES[reason] ?? (["io", reason] as const);
    throw new ToolError(code, `${path}: ${what}`);
  }
}
