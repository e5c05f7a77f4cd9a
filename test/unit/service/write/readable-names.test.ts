/** Checks of what the texts of a script read, for a writer who does not see the whole ontology: each concept is searched once for a property. */
import { expect, it } from 'vitest';
import { keyOf } from '../../../../src/ontology/apply/context.ts';
import { Places } from '../../../../src/ontology/apply.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import { requireReadableNames } from '../../../../src/service/write/writers.ts';

const def = { name: 'a', type: 'bigint', multi: false, description: null, tags: {}, expression: null };

it.each([true, false])('a name that a text reads a thousand times is looked for once; readable: %s', (readable) => {
  const places = new Places();
  places.references.set(
    keyOf(['property', 'p']),
    Array.from({ length: 1000 }, (_, i) => ({ name: 'a', qualifier: null, nested: false, offset: 10 + i })),
  );
  let searched = 0;
  const concept = {
    name: 'c',
    readable,
    multi: [],
    get properties() {
      searched++;
      return [{ def }];
    },
  };
  const usable = { concepts: [concept] } as unknown as Graph;
  const whole = { ontology: 'm', property: () => def } as unknown as Graph;
  const check = (): void => requireReadableNames(usable, whole, [{ kind: 'property', name: 'p' }], places);
  if (readable) check();
  else expect(check).toThrow(expect.objectContaining({ status: 403, offset: 10 }));
  expect(searched).toBeGreaterThan(0);
  expect(searched).toBeLessThanOrEqual(2);
});
