// The reporter that moss gives to Mocha, which takes one alone: it writes each test as it ends, so that one sees how far
// the run is, and at the end what came of all of them, as JSON beside this file.
'use strict';

const fs = require('fs');
const path = require('path');
const util = require('util');

const REPORT = path.join(__dirname, 'mocha.json');

const say = (line) => process.stdout.write(`${line}\n`);
const titleOf = (test) => String(test.fullTitle()).replace(/\s+/g, ' ');
const keyOf = (test) => `${test.file}\n${test.fullTitle()}`;

// Half a pair of surrogates is no text in UTF-8.
const wellFormed = (key, value) => (typeof value === 'string' ? Buffer.from(value).toString() : value);

// A compared value as a person reads it. Anything may be compared: what JSON has no form for, too.
const shown = (value) => (typeof value === 'string' ? value : util.inspect(value, { depth: 5, breakLength: Infinity }));

const described = (error) => {
  const said = { message: String(error && error.message ? error.message : error) };
  if (error && error.stack) {
    said.stack = String(error.stack);
  }
  for (const side of ['expected', 'actual']) {
    if (error && error[side] !== undefined) {
      said[side] = shown(error[side]);
    }
  }
  return said;
};

module.exports = class MossReporter {
  constructor(runner) {
    const tests = [];
    const failures = [];
    // In workers the test that failed and the one that ended are two objects.
    const errors = new Map();
    runner.once('start', () => {
      if (runner.total > 0) {
        say(`running ${runner.total} tests`);
      }
    });
    runner.on('pass', (test) => say(`✓ ${titleOf(test)}`));
    runner.on('pending', (test) => say(`○ ${titleOf(test)}`));
    runner.on('fail', (test, error) => {
      failures.push({ test, error });
      errors.set(keyOf(test), error);
      say(`${test.type === 'hook' ? '‼' : '✗'} ${titleOf(test)}`);
    });
    runner.on('test end', (test) => tests.push(test));
    runner.once('end', () => {
      const written = (test, err) => ({
        title: test.title,
        fullTitle: test.fullTitle(),
        file: test.file,
        duration: test.duration,
        err,
      });
      const ended = (test) => {
        const hasFailed = test.state === 'failed' || failures.some((failure) => failure.test === test);
        const pending = typeof test.isPending === 'function' ? test.isPending() : Boolean(test.pending);
        return { ...written(test, hasFailed ? described(errors.get(keyOf(test))) : {}), pending };
      };
      const report = {
        tests: tests.map(ended),
        failures: failures.map(({ test, error }) => written(test, described(error))),
      };
      fs.writeFileSync(REPORT, JSON.stringify(report, wellFormed));
    });
  }
};
