/** A model as compact text for a language model: like `get_ontology`, without what a question does not need. Pure. */

/** The members of the detail object that are used here (docs/design/rows-and-json.md#the-detail-object). */
export interface Detail {
  readonly ontology: readonly ConceptDetail[];
  readonly properties: Readonly<Record<string, { readonly type: string; readonly is_measure?: boolean; readonly expression?: string | null }>>;
  readonly views: Readonly<Record<string, { readonly description: string | null; readonly is_cube: boolean; readonly columns: readonly Column[] }>>;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

interface ConceptDetail {
  readonly concept: string;
  readonly inheritance: readonly string[];
  readonly description: string | null;
  readonly primary_keys: readonly string[];
  readonly query: string | null;
  readonly properties: readonly (Column & { readonly description: string | null; readonly is_measure: boolean; readonly inherited_from: string | null })[];
  readonly relationships: readonly {
    readonly name: string;
    readonly target: string;
    readonly transitivity: number | null;
    readonly description: string | null;
    readonly inherited_from: string | null;
  }[];
}

/** Longer texts are cut. */
const MAX_CHARACTERS = 512 * 1024;
const CUT = '\n... (cut: ask describe_knowledge_graph for single sections)\n';

const comment = (description: string | null): string => (description ? ` -- ${description.replace(/\s+/g, ' ')}` : '');

/** Writes one line for each element. Inherited properties and relationships are listed only at the parent. */
export function modelText(name: string, { ontology, views }: Detail): string {
  const lines = [`Knowledge graph ${name}`, 'Concepts (SELECT ... FROM svc.concept; dsvc.concept for paths):'];
  for (const concept of ontology) {
    const { inheritance, primary_keys, query } = concept;
    const traits = [
      inheritance.length === 0 ? '' : ` < ${inheritance.join(', ')}`,
      primary_keys.length === 0 ? '' : ` key(${primary_keys.join(', ')})`,
      query === null ? '' : ` where ${query.replace(/\s+/g, ' ')}`,
    ];
    lines.push('', `${concept.concept}${traits.join('')}${comment(concept.description)}`);
    for (const p of concept.properties) {
      if (p.inherited_from === null) lines.push(`  ${p.is_measure ? `measure.${p.name}` : p.name} ${p.type}${comment(p.description)}`);
    }
    for (const r of concept.relationships) {
      if (r.inherited_from === null) lines.push(`  ${r.name}[${r.target}]${r.transitivity === null ? '' : ' transitive'}${comment(r.description)}`);
    }
  }
  const named = Object.entries(views);
  if (named.length > 0) lines.push('', 'Views (SELECT ... FROM vsvc.view):');
  for (const [view, { description, columns }] of named) lines.push(`${view}(${columns.map((c) => `${c.name} ${c.type}`).join(', ')})${comment(description)}`);
  const text = `${lines.join('\n')}\n`;
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, text.lastIndexOf('\n', MAX_CHARACTERS))}${CUT}`;
}
