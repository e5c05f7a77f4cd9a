/** Prints agents, datasources and examples as CREATE statements (for SHOW CREATE). */
import { quoteBack, quoteLiteral } from './quote.ts';

type Options = Readonly<Record<string, string>>;

/** Names in brackets. */
export const nameList = (names: readonly string[]): string => `(${names.map(quoteBack).join(', ')})`;

const options = (of: Options): string[] => {
  const pairs = Object.entries(of).map(([key, value]) => `${quoteBack(key)} = ${quoteLiteral(value)}`);
  return pairs.length === 0 ? [] : [`OPTIONS (${pairs.join(', ')})`];
};

export const printAgent = (a: {
  readonly name: string;
  readonly description: string | null;
  readonly options: Options;
  readonly ontologies: readonly string[];
}): string =>
  [
    `CREATE OR REPLACE AGENT ${quoteBack(a.name)}`,
    `ONTOLOGY ${nameList(a.ontologies)}`,
    ...(a.description === null ? [] : [`DESCRIPTION = ${quoteLiteral(a.description)}`]),
    ...options(a.options),
  ].join(' ');

export const printDatasource = (d: { readonly name: string; readonly type: string; readonly secret: string; readonly options: Options }): string =>
  [`CREATE OR REPLACE DATASOURCE ${quoteBack(d.name)} TYPE ${d.type} SECRET ${quoteLiteral(d.secret)}`, ...options(d.options)].join(' ');

/** Prints an example, with its query as it should appear. */
export const printExample = (e: { readonly question: string; readonly description: string | null; readonly query: string }): string =>
  [
    `CREATE OR REPLACE EXAMPLE ${quoteLiteral(e.question)}`,
    ...(e.description === null ? [] : [`DESCRIPTION = ${quoteLiteral(e.description)}`]),
    `AS ${e.query}`,
  ].join(' ');

/** Prints statements that attach datasources to a new ontology. A new ontology has `main` attached and active. */
export function printAttachments(ontology: string, datasources: readonly string[], active: string | null): readonly string[] {
  const alter = (action: string, name: string, unless = ''): string => `ALTER ONTOLOGY ${quoteBack(ontology)} ${action} DATASOURCE ${unless}${quoteBack(name)}`;
  const isMain = (name: string): boolean => name.toLowerCase() === 'main';
  return [
    ...datasources.filter((d) => !isMain(d)).map((d) => alter('ADD', d, 'IF NOT EXISTS ')),
    ...(active === null || isMain(active) ? [] : [alter('ACTIVATE', active)]),
    ...(datasources.some(isMain) ? [] : [alter('REMOVE', 'main', 'IF EXISTS ')]),
  ];
}
