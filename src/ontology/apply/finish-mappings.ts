/** Checks mappings at the end of a script (docs/design/statements-and-versions.md#checks-at-the-end-of-a-script). */
import { badRequest, quoted, type SvcError } from '../../errors.ts';
import type { Concept, Graph } from '../graph.ts';
import { directionOf, type Pairs, type relationshipOf } from '../links.ts';
import type { LinkDef, MappingDef } from '../model.ts';
import { fold, THING } from '../names.ts';
import { listed, unknown } from './checks.ts';
import type { Places } from './context.ts';
import { folded, lists } from './lists.ts';

const columnsGivenBy = (m: MappingDef): ReadonlySet<string> => folded(m.columns.map((c) => c.name));

/** Whether the columns of a mapping's SELECT are known. If its text does not determine them, `columns` is empty and the checks are skipped. */
const hasKnownColumns = (m: MappingDef): boolean => m.columns.length > 0;

export interface LinkLookup {
  readonly graph: Graph;
  readonly pairs: Pairs;
  readonly find: (link: LinkDef) => ReturnType<typeof relationshipOf>;
}

/** @throws SvcError 400 `unknown_*`, `bad_mapping`, `reserved_name` */
export function checkMapping(m: MappingDef, lookup: LinkLookup, places: Places): void {
  if (m.link) {
    checkLink(m, m.link, lookup, places);
    return;
  }
  const { graph } = lookup;
  const at = (...path: string[]) => ({ offset: places.near('mapping', m.name, ...path) });
  const concept = graph.concept(m.concept ?? '');
  if (!concept) {
    throw unknown(
      'concept',
      m.concept ?? '',
      at('concept').offset,
      graph.concepts.map((c) => c.name),
    );
  }
  if (concept === graph.thing) throw badRequest('reserved_name', `${quoted(THING)} cannot be mapped`, at('concept'));
  if (concept.def?.logic) {
    throw badRequest('bad_mapping', `the concept ${quoted(concept.name)} is defined by a condition and cannot be mapped`, {
      ...at('concept'),
      hint: `map into ${quoted(concept.def.logic.concept)}, which has its rows`,
    });
  }
  if (m.kind === 'multi') {
    checkMulti(m, concept, places);
    return;
  }
  const given = columnsGivenBy(m);
  if (hasKnownColumns(m) && !concept.properties.some((p) => p.def.expression === null && given.has(fold(p.def.name)))) {
    throw badRequest(
      'bad_mapping',
      `the mapping ${quoted(m.name)} provides none of the properties of concept ${quoted(concept.name)}; its columns are ${listed(m.columns.map((c) => quoted(c.name)))}`,
      {
        offset: places.near('mapping', m.name) ?? places.near('concept', concept.name),
        hint: 'name the columns of its SELECT after the properties that they provide: column AS property',
      },
    );
  }
}

function checkMulti(m: MappingDef, concept: Concept, places: Places): void {
  const name = m.property ?? '';
  const offset = places.near('mapping', m.name, 'property') ?? places.near('concept', concept.name);
  if (!lists(concept.multi, name)) {
    throw unknown(
      'property',
      name,
      offset,
      concept.multi.map((p) => p.def.name),
      ` among the multi-value properties of concept ${quoted(concept.name)}`,
    );
  }
  if (!concept.key) {
    throw badRequest('bad_mapping', `the concept ${quoted(concept.name)} has no PRIMARY KEY to assign values of ${quoted(name)} to its rows`, {
      offset,
    });
  }
  if (!hasKnownColumns(m)) return;
  const given = columnsGivenBy(m);
  const missing = [...concept.key.properties.map((p) => p.name), name].filter((p) => !given.has(fold(p)));
  if (missing.length > 0) {
    throw badRequest('bad_mapping', `the mapping ${quoted(m.name)} does not provide ${listed(missing.map(quoted))}`, {
      offset,
      hint: `it must provide the key of ${quoted(concept.name)} and the property ${quoted(name)}`,
    });
  }
}

function checkLink(m: MappingDef, link: LinkDef, lookup: LinkLookup, places: Places): void {
  const { graph } = lookup;
  const place = placesOfLink(m, places);
  const ends = [link.forward, link.back];
  for (const end of ends) {
    const concept = graph.concept(end.concept);
    if (concept && concept !== graph.thing) continue;
    throw unknown(
      'concept',
      end.concept,
      place(end.relationship, 'concept'),
      graph.concepts.map((c) => c.name),
    );
  }
  if (!lookup.find(link)) throw noSuchPair(link, lookup, place);
  const given = columnsGivenBy(m);
  for (const end of ends) {
    const concept = graph.concept(end.concept);
    for (const name of end.references) {
      if (concept && lists(concept.properties, name)) continue;
      throw unknown(
        'property',
        name,
        place(end.relationship, 'reference', name) ?? places.near('concept', end.concept),
        concept?.properties.map((p) => p.def.name) ?? [],
        ` of concept ${quoted(end.concept)}`,
      );
    }
    const column = hasKnownColumns(m) ? end.columns.find((c) => !given.has(fold(c))) : undefined;
    if (column === undefined) continue;
    throw badRequest(
      'bad_mapping',
      `the mapping ${quoted(m.name)} does not provide the column ${quoted(column)}; its columns are ${listed(m.columns.map((c) => quoted(c.name)))}`,
      {
        offset: place(end.relationship, 'column', column),
      },
    );
  }
}

/** The offset of a part of a link mapping's constraint for a relationship, or of the mapping. */
type PlaceOfLink = (relationship: string, ...path: string[]) => number | undefined;

function placesOfLink(m: MappingDef, places: Places): PlaceOfLink {
  // normalising may have swapped the ends: find a constraint by its spelling, otherwise by the name in question
  return (relationship, ...path) => {
    const at = (i: number, ...rest: string[]) => places.get('mapping', m.name, 'link', String(i), ...rest);
    const named = [0, 1].find((i) => at(i, 'name', relationship) !== undefined);
    return (named === undefined ? (at(0, ...path) ?? at(1, ...path)) : (at(named, ...path) ?? at(named))) ?? places.near('mapping', m.name);
  };
}

/** The error for a link mapping whose constraints are not the two directions of a MULTIREFERENCE. */
function noSuchPair({ forward, back }: LinkDef, { pairs }: LinkLookup, place: PlaceOfLink): SvcError {
  const near = pairs.all.flatMap((p) => [p.def.name, p.inverseName]);
  const one = pairs.all.find((p) => directionOf(p, forward.relationship) !== null);
  if (!one) return unknown('relationship', forward.relationship, place(forward.relationship), near);
  if (one.def.kind === 'fk') {
    return badRequest('bad_mapping', `the relationship ${quoted(one.def.name)} is defined by its foreign key and cannot have a mapping`, {
      offset: place(forward.relationship),
      hint: 'only a MULTIREFERENCE has link mappings',
    });
  }
  if (!pairs.all.some((p) => directionOf(p, back.relationship) !== null)) {
    return unknown('relationship', back.relationship, place(back.relationship), near);
  }
  return badRequest(
    'bad_mapping',
    `${quoted(forward.relationship)} to ${quoted(forward.concept)} and ${quoted(back.relationship)} back to ${quoted(back.concept)} are not the two directions of one relationship`,
    {
      offset: place(forward.relationship),
      hint: 'the constraint named r refers to the target of r, the other one (its INVERSEOF name, or `~r`) to the concept where r starts',
    },
  );
}
