/** Completes a script: checks all references and brings the model into its stored form. */
import { ahead, visited } from '../../budget.ts';
import { quoted, SvcError } from '../../errors.ts';
import { compile } from '../compile.ts';
import type { Graph } from '../graph.ts';
import { kinshipIn } from '../kinship.ts';
import { pairRelationships, relationshipOf } from '../links.ts';
import type { LinkDef, Model } from '../model.ts';
import { validate, type Warning } from '../validate.ts';
import type { ApplyContext, Places, SqlPiece } from './context.ts';
import { mayBeCircular } from './finish-circles.ts';
import { checkConcepts, checkInheritance } from './finish-concepts.ts';
import { checkExpressions, checkViews } from './finish-expressions.ts';
import { checkMapping } from './finish-mappings.ts';
import { find } from './lists.ts';
import { normalise } from './normalise.ts';

/** The costs of the checks of objects, in addition to those of their closures. */
const STEPS_OF_A_CONCEPT = 200;
const STEPS_OF_A_MAPPING = 50;
const STEPS_OF_AN_OBJECT = 10;

/** The cost of checking a model again. The statements that a script may have pay for the first check. */
const stepsOfChecks = ({ concepts, mappings, properties, measures, views }: Model): number =>
  STEPS_OF_A_CONCEPT * concepts.length + STEPS_OF_A_MAPPING * mappings.length + STEPS_OF_AN_OBJECT * (properties.length + measures.length + views.length);

export interface Finished {
  /** `after`, with names in their declared spelling. This is stored. */
  readonly model: Model;
  readonly graph: Graph;
  /** Warnings about what the script wrote, with their positions. */
  readonly warnings: readonly Warning[];
  /** The SQL that the script wrote. The planner must check it. */
  readonly pieces: readonly SqlPiece[];
  /** Older SQL that the script may have made circular. The planner must check it. `offset` is that of the script's last modelling statement. */
  readonly affected: readonly SqlPiece[];
}

/**
 * Checks a model after the last modelling statement of a script. `before` is the model before the first one. Objects that are
 * in both were checked when they were created, except for what the script removed from under them.
 *
 * @param again true: the request has checked a model before
 * @throws SvcError 400; the offset is that of the offending name, or of what the script changed to break it
 */
export function finish(before: Model, after: Model, context: ApplyContext, again = false): Finished {
  try {
    if (again) visited(stepsOfChecks(after));
    return check(before, after, context);
  } catch (e) {
    throw e instanceof SvcError && e.offset === undefined ? e.at(context.places.last) : e;
  }
}

function check(before: Model, after: Model, context: ApplyContext): Finished {
  const { ontology, places } = context;
  const lookup = (model: Model) => {
    const graph = compile(model, ontology);
    const pairs = pairRelationships(model);
    const kinship = kinshipIn(graph);
    return { graph, pairs, find: (link: LinkDef) => relationshipOf(link, pairs, kinship) };
  };
  const raw = lookup(after);
  checkInheritance(raw.graph, places);
  // the checks list the ancestors of each concept: at least one on each level above it
  ahead(
    0,
    raw.graph.concepts.reduce((entries, { level }) => entries + level - 1, 0),
  );
  const model = normalise(before, after, raw.graph, raw.find);
  const { graph, pairs, find } = model === after ? raw : lookup(model);
  checkConcepts(graph, pairs, places);
  for (const m of model.mappings) checkMapping(m, { graph, pairs, find }, places);
  checkExpressions(before, graph, pairs, context);
  checkViews(graph, context);
  const pieces = places.pieces.filter((p) => contains(model, p));
  const warnings = [...translationsOf(pieces, places), ...validate(graph, places).filter((w) => w.offset !== undefined)];
  return { model, graph, warnings, pieces, affected: mayBeCircular(before, model, pieces, places.last) };
}

const translationsOf = (pieces: readonly SqlPiece[], places: Places): Warning[] =>
  pieces.flatMap((p) =>
    places.translations(p).map(({ from, to, offset }) => ({
      code: 'translated' as const,
      message: `${quoted(from)} is stored as ${quoted(to)}, which PostgreSQL has for it`,
      object: `${p.kind} ${p.name}`,
      offset,
    })),
  );

/** Whether the model still has that SQL. A script may drop what it created. */
function contains(model: Model, { kind, name }: SqlPiece): boolean {
  switch (kind) {
    case 'view':
      return find(model.views, name) !== undefined;
    case 'mapping':
      return find(model.mappings, name) !== undefined;
    case 'measure':
      return find(model.measures, name) !== undefined;
    case 'property':
      return find(model.properties, name)?.expression != null;
    case 'logic':
      return find(model.concepts, name)?.logic != null;
  }
}
