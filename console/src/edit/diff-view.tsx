import { visible } from '../parts/visible.ts';
import { texts } from '../texts.ts';
import { diff, excerpt } from './diff.ts';
import type { Change } from './requests.ts';

/** The differences of two texts: removed lines have a minus sign, added ones a plus sign. */
export function DiffView({ before, after }: { readonly before: string | null; readonly after: string | null }) {
  const lines = excerpt(diff(before, after));
  return (
    <pre class="code diff" tabIndex={0} role="region" aria-label={texts.edit.differences}>
      {lines.map((line, i) =>
        line === null ? (
          <span key={i} class="skipped">
            {'\u2026\n'}
          </span>
        ) : (
          <span key={i} class={line.kind}>
            {`${line.kind === 'added' ? '+' : line.kind === 'removed' ? '-' : ' '} ${visible(line.text)}\n`}
          </span>
        ),
      )}
    </pre>
  );
}

/** Changes, each with the differences of its texts. */
export const ChangeList = ({ changes }: { readonly changes: readonly Change[] }) => (
  <>
    {changes.map((c) => (
      <details key={`${c.kind} ${c.name}`} open={changes.length < 6}>
        <summary>
          <b class={c.action}>{texts.edit.actions[c.action]}</b> {c.kind} <code>{c.name}</code>
        </summary>
        <DiffView before={c.before} after={c.after} />
      </details>
    ))}
  </>
);
