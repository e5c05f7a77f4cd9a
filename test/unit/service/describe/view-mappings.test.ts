import { expect, it } from 'vitest';
import type { SqlReader } from '../../../../src/ontology/apply.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import type { ViewDef } from '../../../../src/ontology/model.ts';
import { ViewMappings } from '../../../../src/service/describe/view-mappings.ts';

it('each text of a view is read once, however many views read it', () => {
  const mapping = { name: 'm' };
  const item = { rows: { kind: 'mappings', sources: [{ mapping }] } };
  const views = new Map(
    Array.from({ length: 20 }, (_, i) => [`v${i}`, { name: `v${i}`, datasource: null, sql: i === 0 ? 'item' : `v${i - 1} v${Math.max(0, i - 2)}` }]),
  );
  const graph = { concept: (name: string) => (name === 'item' ? item : undefined), view: (name: string) => views.get(name), mapping: () => mapping };
  const read: string[] = [];
  const reader = {
    relationsOf: ({ text }: { text: string }) => {
      read.push(text);
      return text.split(' ').map((name) => ({ schema: null, name }));
    },
    referencesOf: () => [],
  };
  const mappings = new ViewMappings(graph as unknown as Graph, reader as unknown as SqlReader);
  for (const view of [...views.values()].reverse()) expect(mappings.of(view as unknown as ViewDef)).toEqual([mapping]);
  expect(read).toHaveLength(views.size);
});
