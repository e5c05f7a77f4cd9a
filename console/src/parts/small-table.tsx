/** A table of few rows. */
import { cellText } from '../api/exact.ts';
import type { Row } from '../api/rows.ts';
import { texts } from '../texts.ts';

export function SmallTable({ rows }: { readonly rows: readonly Row[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c} scope="col">
                {c}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {columns.map((c) => (
                <td key={c}>{cellText(row[c]) ?? <span class="null">{texts.query.null}</span>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
