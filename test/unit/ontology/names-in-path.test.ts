import { expect, it } from 'vitest';
import { namesInPath } from '../../../src/ontology/paths.ts';

it.each([
  ['name', ['name']],
  ['r[c].p', ['r', 'c', 'p']],
  ['~r[c*3].s[d].p', ['r', 'c', 's', 'd', 'p']],
  ['measure.r[c].m', ['r', 'c', 'm']],
  ['r[c].measure.m', ['r', 'c', 'm']],
  ['measure.m', ['m']],
  ['_type_of_c', ['c']],
  ['~r', ['r']],
  ['r[c]_since', ['r', 'c', 'since']],
  ['a.b[c d].e.f', ['a.b', 'c d', 'e.f']],
  ['r[c', ['r[c']],
])('the names in %s', (text, names) => {
  expect(namesInPath(text)).toEqual(expect.arrayContaining(names));
});
