/** A table of few rows. */
import { cellText } from '../api/exact.ts';
import type { Row } from '../api/rows.ts';
import { texts } from '../texts.ts';
import { Table } from './table.tsx';

export function SmallTable({ rows }: { readonly rows: readonly Row[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <Table columns={columns}>
      {rows.map((row, i) => (
        <tr key={i}>
          {columns.map((c) => (
            <td key={c}>{cellText(row[c]) ?? <span class="null">{texts.query.null}</span>}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
