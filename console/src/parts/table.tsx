/** The frame of a table: it scrolls by itself, and its columns have names. */
import type { ComponentChildren } from 'preact';

interface Props {
  readonly columns: readonly string[];
  /** The name for screen readers. */
  readonly caption?: string;
  readonly class?: string;
  /** The rows, as `tr`. */
  readonly children: ComponentChildren;
}

export const Table = ({ columns, caption, class: more, children }: Props) => (
  <div class={more === undefined ? 'scroll' : `scroll ${more}`} tabIndex={0}>
    <table>
      {caption !== undefined && <caption class="hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((c) => (
            <th key={c} scope="col">
              {c}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
