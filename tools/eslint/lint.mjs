// Lints scripts that a page joins into one, in the order of their names:
//
//   node lint.mjs FOLDER
//
// A name that is declared in one file and used in another is thus known, and one
// that no file uses is found. Rules are on by name.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Linter } from 'eslint';

// What the scripts use of the browser.
const browser = ['ResizeObserver', 'addEventListener', 'document', 'getComputedStyle', 'innerHeight', 'innerWidth', 'localStorage', 'matchMedia', 'removeEventListener', 'requestAnimationFrame', 'setTimeout', 'window'];

const rules = Object.fromEntries([
  'array-callback-return', 'constructor-super', 'eqeqeq', 'for-direction', 'getter-return', 'no-compare-neg-zero', 'no-cond-assign', 'no-const-assign',
  'no-constant-condition', 'no-control-regex', 'no-debugger', 'no-dupe-args', 'no-dupe-class-members', 'no-dupe-else-if', 'no-dupe-keys',
  'no-duplicate-case', 'no-empty', 'no-empty-pattern', 'no-eval', 'no-ex-assign', 'no-fallthrough', 'no-func-assign', 'no-global-assign',
  'no-implied-eval', 'no-inner-declarations', 'no-invalid-regexp', 'no-irregular-whitespace', 'no-loss-of-precision', 'no-new-func', 'no-octal',
  'no-prototype-builtins', 'no-redeclare', 'no-self-assign', 'no-self-compare', 'no-shadow-restricted-names', 'no-sparse-arrays', 'no-this-before-super',
  'no-throw-literal', 'no-undef', 'no-unreachable', 'no-unsafe-finally', 'no-unsafe-negation', 'no-unused-expressions', 'no-unused-labels',
  'no-unused-vars', 'no-useless-catch', 'no-useless-escape', 'no-var', 'no-with', 'prefer-const', 'radix', 'require-yield', 'use-isnan', 'valid-typeof',
].map((name) => [name, 'error']));

const folder = process.argv[2];
const files = readdirSync(folder).filter((name) => name.endsWith('.js')).sort();
if (files.length === 0) {
  console.error(`${folder} has no scripts`);
  process.exit(2);
}
let text = '';
const starts = []; // the first line of each file in the joined text
for (const name of files) {
  starts.push(text.split('\n').length);
  const script = readFileSync(join(folder, name), 'utf8').replace(/\n?$/, '\n');
  text += text === '' ? script : script.replace(/^'use strict';/, ''); // it is a directive at the beginning only
}

const found = new Linter().verify(text, [{
  languageOptions: { ecmaVersion: 2022, sourceType: 'script', globals: Object.fromEntries(browser.map((name) => [name, 'readonly'])) },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules,
}]);
for (const { line, column, ruleId, message } of found) {
  const at = starts.findLastIndex((start) => start <= (line ?? 1));
  console.error(`${join(folder, files[at])}:${(line ?? 1) - starts[at] + 1}:${column ?? 1}: ${message} (${ruleId ?? 'syntax'})`);
}
process.exit(found.length > 0 ? 1 : 0);
