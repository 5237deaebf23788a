// Sources of the packages in a directory, and whether texts are JavaScript.
//
// `sources DIRECTORY` prints a JSON array of texts; `parses` reads one and prints an array of
// booleans.

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const SOURCES_MAX = 80;

function* files(directory) {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const name = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* files(name);
    else if (entry.name.endsWith(".js")) yield name;
  }
}

function parses(text) {
  try {
    new vm.Script(`(function (exports, require, module) {${text}\n})`);
    return true;
  } catch {
    return false;
  }
}

function sources(directory) {
  const texts = [];
  for (const name of [...files(directory)].sort()) {
    const { size } = fs.statSync(name);
    if (size < 2_000 || size > 30_000) continue;
    const text = fs.readFileSync(name, "utf8");
    const isMinified = text.split("\n").some((line) => line.length > 300);
    if (!isMinified && parses(text)) texts.push(text);
  }
  const step = Math.max(1, Math.floor(texts.length / SOURCES_MAX));
  return texts.filter((_, at) => at % step === 0).slice(0, SOURCES_MAX);
}

const [task, directory] = process.argv.slice(2);
const result =
  task === "sources"
    ? sources(directory)
    : JSON.parse(fs.readFileSync(0, "utf8")).map(parses);
process.stdout.write(JSON.stringify(result));
