/** Rows as a tree: nested rows and lists open and close. */
import { useState } from 'preact/hooks';
import { cellText, Exact } from '../api/exact.ts';
import type { Rows } from '../api/rows.ts';
import { texts } from '../texts.ts';

/** How many rows, and members of a list, are shown at first and with each "more". */
const PAGE = 50;

export function Tree({ rows, count }: { readonly rows: Rows; readonly count: number }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <div class="tree">
      {Array.from({ length: Math.min(shown, count) }, (_, i) => (
        <Value key={i} name={String(i + 1)} value={rows.row(i)} open={i < 5} />
      ))}
      {count > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          {texts.query.more(count - shown)}
        </button>
      )}
    </div>
  );
}

function Value({ name, value, open = false }: { readonly name: string; readonly value: unknown; readonly open?: boolean }) {
  const [isOpen, setOpen] = useState(open);
  if (value === null || typeof value !== 'object' || value instanceof Exact) {
    const text = cellText(value);
    return (
      <p>
        <b>{name}</b> {text === null ? <span class="null">{texts.query.null}</span> : text}
      </p>
    );
  }
  const members: readonly (readonly [string, unknown])[] = Array.isArray(value) ? value.map((v, i) => [String(i + 1), v] as const) : Object.entries(value);
  return (
    <details open={isOpen} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <b>{name}</b> <span class="muted">{titleOf(value, members.length)}</span>
      </summary>
      {isOpen && <Members members={members} />}
    </details>
  );
}

function Members({ members }: { readonly members: readonly (readonly [string, unknown])[] }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <div>
      {members.slice(0, shown).map(([key, member]) => (
        <Value key={key} name={key} value={member} />
      ))}
      {members.length > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          {texts.query.more(members.length - shown)}
        </button>
      )}
    </div>
  );
}

/** What identifies a closed part: its label, name or first text; for a list the number of its members. */
function titleOf(value: object, members: number): string {
  if (Array.isArray(value)) return texts.query.members(members);
  const row = value as Readonly<Record<string, unknown>>;
  const title = row.entity_label ?? row.name ?? Object.values(row).find((v) => typeof v === 'string');
  return typeof title === 'string' ? title.slice(0, 80) : '';
}
