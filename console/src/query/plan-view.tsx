/** The plan of a statement as a tree, with the statement for the datasource. */
import { Code, Copy } from '../parts/basics.tsx';
import { texts } from '../texts.ts';
import { type PlanNode, planTree } from './plan-tree.ts';

export function PlanView({ plan, generated }: { readonly plan: string; readonly generated: string | null }) {
  const roots = planTree(plan);
  return (
    <div class="body">
      <div class="bar">
        <b>{texts.query.plan}</b>
        <Copy text={plan} />
      </div>
      {roots.length === 0 ? (
        <p class="empty">{texts.query.noPlan}</p>
      ) : (
        <div class="plan">
          {roots.map((node, i) => (
            <Step key={i} node={node} whole={roots[0]?.cost ?? null} />
          ))}
        </div>
      )}
      {generated !== null && (
        <>
          <div class="bar">
            <b>SQL</b>
            <Copy text={generated} />
          </div>
          <Code text={generated} />
        </>
      )}
    </div>
  );
}

function Step({ node, whole }: { readonly node: PlanNode; readonly whole: number | null }) {
  const { title, cost, rows, details, below } = node;
  const line = (
    <>
      {title}
      {rows !== null && <span class="chip">{texts.query.planRows(rows)}</span>}
      {cost !== null && <span class="chip">{texts.query.planCost(whole === null || whole === 0 ? 100 : Math.round((100 * cost) / whole))}</span>}
    </>
  );
  if (details.length + below.length === 0) return <p class="step">{line}</p>;
  return (
    <details open>
      <summary>{line}</summary>
      {details.map((text, i) => (
        <p key={i} class="muted">
          {text}
        </p>
      ))}
      {below.map((child, i) => (
        <Step key={i} node={child} whole={whole} />
      ))}
    </details>
  );
}
