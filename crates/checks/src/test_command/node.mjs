// The reporter that moss gives to Node.js: its own JUnit XML leaves out why a test with parts failed by itself, and calls
// what is still to be done failed. It writes all tests at the end, as JSON.
import util from 'node:util';

// Half a pair of surrogates is no text in UTF-8.
const wellFormed = (key, value) => (typeof value === 'string' ? Buffer.from(value).toString() : value);

// A compared value as a person reads it. Anything may be compared: what JSON has no form for, too.
const shown = (value) => (typeof value === 'string' ? value : util.inspect(value, { depth: 5, breakLength: Infinity }));

const described = (error) => {
  const cause = error.cause ?? error;
  const said = { kind: error.failureType, text: String(cause?.stack ?? (typeof cause === 'object' ? util.inspect(cause) : cause)) };
  for (const side of ['expected', 'actual']) {
    if (cause !== null && typeof cause === 'object' && side in cause && cause[side] !== undefined) {
      said[side] = shown(cause[side]);
    }
  }
  return said;
};

// What Node.js says of tests that were not chosen. It runs what is prepared for them all the same.
const NOT_CHOSEN = new Set(['test name does not match pattern', "'only' option not set"]);

export default async function* moss(source) {
  const tests = [];
  // The tests around the next one, the innermost last.
  let around = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      around = around.slice(0, data.nesting);
      around.push({ name: data.name, parent: around.at(-1) });
    } else if (type === 'test:pass' || type === 'test:fail') {
      const begun = around[data.nesting];
      const test = begun?.name === data.name ? begun : { name: data.name, parent: around[data.nesting - 1] };
      around = around.slice(0, data.nesting);
      if (test.parent) {
        test.parent.hasParts = true;
      }
      const isNotChosen = NOT_CHOSEN.has(data.skip);
      if (!test.hasParts) {
        for (let one = test.parent; one; one = one.parent) {
          one[isNotChosen ? 'hasOthers' : 'hasChosen'] = true;
        }
      }
      const { error, duration_ms: duration, type: kind } = data.details ?? {};
      const failure = type === 'test:fail' ? described(error ?? {}) : undefined;
      Object.assign(test, {
        isSuite: kind === 'suite',
        // A file that declares no test, or fails as a whole, is a test by its own name.
        isFile: data.nesting === 0 && data.name === data.file,
        file: data.file,
        line: data.line,
        duration,
        // Of a suite: none of its tests.
        isNotChosen: isNotChosen || Boolean(test.hasOthers && !test.hasChosen),
        // What is prepared for one that is skipped fails the run all the same.
        isLeftOut: isNotChosen || data.todo !== undefined || (data.skip !== undefined && failure?.kind !== 'hookFailed'),
        failure,
      });
      tests.push(test);
    }
  }
  const written = ({ parent, hasOthers, hasChosen, ...test }) => {
    const within = [];
    for (let one = parent; one; one = one.parent) {
      // Whether it is a suite is only known at its end.
      if (!one.isSuite && !one.isFile) {
        within.push(one.name);
      }
    }
    return { ...test, within };
  };
  yield JSON.stringify({ tests: tests.map(written) }, wellFormed);
}
