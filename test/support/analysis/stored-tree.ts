/**
 * The objects that PostgreSQL resolved in a stored query: the OIDs in the text of pg_rewrite.ev_action (nodeToString of PostgreSQL's outfuncs.c). The text has the form
 * `{NODE :field value :field value ...}`, with lists in round brackets and the bytes of constants in square ones.
 */

/** The kind of object that a field refers to. */
export type Kind = 'function' | 'operator' | 'type' | 'relation' | 'collation';

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Fields that contain OIDs of other objects, one or a list; 0 means no object. */
const FIELDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    function: words('funcid aggfnoid winfnoid opfuncid hashfuncid negfuncid startInRangeFunc endInRangeFunc tsmhandler'),
    operator: words('opno opnos eqop sortop cycle_mark_neop'),
    type: words(`
      aggargtypes aggtranstype aggtype array_typeid casetype coalescetype colTypes coltypes consttype ctecoltypes cycle_mark_type element_typeid
      funccoltypes funcresulttype minmaxtype opresulttype paramtype refcontainertype refelemtype refrestype resulttype row_typeid typeId typid
      vartype wintype`),
    relation: words('relid resorigtbl seqid'),
    collation: words(`
      aggcollid array_collid casecollid coalescecollid colCollations colcollations collOid constcollid ctecolcollations cycle_mark_collation
      funccolcollations funccollid inputcollid inputcollids minmaxcollid opcollid paramcollid refcollid resultcollid varcollid wincollid
      firstColCollation collation`),
  }).flatMap(([kind, names]) => names.map((name) => [name, kind as Kind] as const)),
);

/** Fields with a name like that of an OID field, but other content. */
const NO_OIDS: ReadonlySet<string> = new Set(
  words('booltesttype btype cmptype commandType format_type item_type jointype nulltesttype rctype subLinkType type varreturningtype'),
);
const SUFFIX = /(?:typeid|typid|types?|collids?|collations?|oid|funcid|opnos?|relid)$/i;

/** The objects that a stored query refers to, and its nodes. */
export interface Stored {
  /** OIDs by kind, and the fields that contain them. */
  readonly refers: ReadonlyMap<Kind, ReadonlyMap<number, ReadonlySet<string>>>;
  readonly nodes: ReadonlySet<string>;
  /** Fields that look like OID fields, but are not known here. */
  readonly unknown: ReadonlySet<string>;
}

/**
 * `:field 4711` or `:field (o 4711 4712)`, with any name; the groups are the name and its numbers, which are absent if another character follows. Blanks in names are
 * escaped, so a name in a statement is never read as a field. One expression for all names is ten times as fast as their alternation.
 */
const NUMBERS = / :(\w+) (?:\([oi] (?:([\d ]+)\))?|(?=\d)(?:(\d+)(?=[ )}]))?)/g;
/** SQLVALUEFUNCTION and XMLEXPR have a type in a field that other nodes use for something else. */
const VALUE_TYPE = /\{SQLVALUEFUNCTION :op \d+ :type (\d+)/g;
const NODE = /(?<!\\)\{([A-Z]+)/g;

/** Parses the text of a stored query. @throws Error if it does not have that form */
export function readStored(text: string): Stored {
  if (!text.startsWith('({QUERY ') || !text.endsWith('})')) throw new Error('no stored query');
  const refers = new Map<Kind, Map<number, Set<string>>>();
  const add = (kind: Kind, oid: number, field: string): void => {
    if (oid === 0) return;
    const of = refers.get(kind) ?? new Map<number, Set<string>>();
    const fields = of.get(oid) ?? new Set<string>();
    refers.set(kind, of.set(oid, fields.add(field)));
  };
  const unknown = new Set<string>();
  for (const [, field = '', list, one] of text.matchAll(NUMBERS)) {
    const kind = FIELDS.get(field);
    if (kind === undefined) {
      if (SUFFIX.test(field) && !NO_OIDS.has(field)) unknown.add(field);
    } else if (one !== undefined) add(kind, Number(one), field);
    else for (const oid of list?.trim().split(' ') ?? []) add(kind, Number(oid), field);
  }
  for (const [, oid] of text.matchAll(VALUE_TYPE)) add('type', Number(oid), 'SQLVALUEFUNCTION.type');
  const nodes = new Set([...text.matchAll(NODE)].map((m) => m[1] as string));
  return { refers, nodes, unknown };
}
