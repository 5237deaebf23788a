#!/usr/bin/env node
// Makes a component of a plugin: bundles its main file, asks it what it is, and builds it with what it
// needs. Run it in the plugin's directory; the component comes to `dist/NAME.wasm`.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { componentize } from "@bytecodealliance/componentize-js";
import { build } from "esbuild";

const HOST = /^(moss|wasi):/;

const { name, version, main } = JSON.parse(await readFile("package.json", "utf8"));
if (!name || !version || !main) {
  fail("package.json needs `name`, `version` and `main`, the plugin's main file");
}
const bundling = {
  absWorkingDir: process.cwd(),
  stdin: {
    contents: `import plugin from ${JSON.stringify(resolve(main))}; export const tools = plugin;`,
    resolveDir: process.cwd(),
    sourcefile: "entry.js",
  },
  bundle: true,
  define: { MOSS_PACKAGE: JSON.stringify({ name, version }) },
  format: "esm",
  logLevel: "warning",
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2022",
  write: false,
};

const { capabilities } = await description();
const http = capabilities.some(({ kind }) => kind === "http");
const source = await bundled({ external: ["moss:*", "wasi:*"] });
const contract = await readFile(new URL("wit/plugin.wit", import.meta.url), "utf8");
const guest = await readFile(new URL("guest.wit", import.meta.url), "utf8");
const { component } = await componentize(
  source,
  `${guest}\n${contract.replace(/^package (\S+);$/m, "package $1 {")}}\n`,
  { worldName: "guest", disableFeatures: http ? ["fetch-event"] : ["fetch-event", "http"] },
);
await mkdir("dist", { recursive: true });
await writeFile(`dist/${name}.wasm`, component);

/** Asks the plugin what it is: here, where its mistakes have a trace. Moss itself answers nothing. */
async function description() {
  const plugins = [{ name: "no-moss", setup: withoutMoss }];
  const text = await bundled({ plugins, platform: "node" });
  const file = resolve("dist/.describe.mjs");
  await mkdir("dist", { recursive: true });
  await writeFile(file, text);
  try {
    const { tools } = await import(pathToFileURL(file).href);
    if (typeof tools?.describe !== "function") {
      fail(`${main}: its default export is not what \`definePlugin\` returns`);
    }
    return tools.describe();
  } finally {
    await rm(file);
  }
}

function withoutMoss(bundler) {
  bundler.onResolve({ filter: HOST }, ({ path }) => ({ path, namespace: "no-moss" }));
  bundler.onLoad({ filter: /.*/, namespace: "no-moss" }, ({ path }) => ({
    contents: `module.exports = new Proxy({}, { get: (_, name) => () => {
      throw new Error(\`\${name} of ${path} can only be called while a tool runs\`);
    } });`,
    loader: "js",
  }));
}

async function bundled(options) {
  try {
    const { outputFiles } = await build({ ...bundling, ...options });
    return outputFiles[0].text;
  } catch {
    // It has said why.
    process.exit(1);
  }
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
