/** What is drawn, as a table. */
import { useMemo } from 'preact/hooks';
import { Table } from '../parts/table.tsx';
import { texts } from '../texts.ts';
import { type DataGraph, nameOf } from './graph.ts';
import type { Look } from './style.ts';

interface Props {
  readonly graph: DataGraph;
  readonly chosen: string | null;
  choose(id: string): void;
  look(type: string): Look;
}

export function DrawnTable({ graph, chosen, choose, look }: Props) {
  const links = useMemo(() => {
    const found = new Map<string, number>();
    for (const { from, to } of graph.links) for (const id of new Set([from, to])) found.set(id, (found.get(id) ?? 0) + 1);
    return found;
  }, [graph.links]);
  const { label, type, id, links: linked } = texts.data.columns;
  return (
    <details class="drawn">
      <summary>{texts.data.table}</summary>
      <Table columns={[label, type, id, linked]}>
        {[...graph.entities.values()].map((e) => (
          <tr key={e.id}>
            <td>
              <button type="button" class="link" aria-pressed={e.id === chosen} onClick={() => choose(e.id)}>
                {look(e.type).label(e.id) ?? nameOf(e)}
              </button>
            </td>
            <td>{e.type}</td>
            <td>
              <code>{e.id}</code>
            </td>
            <td>{links.get(e.id) ?? 0}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
