/** The columns that a SELECT gives. */
import type { Block } from './block.ts';
import type { Col, Expr } from './expr.ts';
import { col } from './expr.ts';
import type { Onto } from './onto.ts';
import type { Printer } from './print.ts';

/** The output columns: names and expressions, stars written out. */
export function columnsOf(block: Block, onto: Onto, printer: Printer): { name: string; e: Expr }[] {
  return block.sel.items.flatMap((i): { name: string; e: Expr }[] => {
    if (i.k === 'expr') {
      if (i.as !== null) return [{ name: i.as, e: i.e }];
      if (i.e.k === 'grp') return [{ name: nameOf(block.sel.group![i.e.i]!, printer), e: i.e }];
      return [{ name: nameOf(i.e, printer), e: i.e }];
    }
    if (i.k === 'wild') return starOf(onto, i.path.at(-1)!.bracket, 'dsvc', i.rel, i.path).map((e) => ({ name: printer.colText(e), e }));
    const f = block.sel.from[block.rels.get(i.rel)!]!;
    if (f.src.k === 'view') {
      const { name } = f.src;
      return onto.world
        .views!.find((v) => v.name === name)!
        .kinds.map(([column, kind]) => ({ name: column, e: col(i.rel, [], { k: 'out', name: column }, kind) }));
    }
    if (f.src.k !== 'concept') throw new Error('star of a derived table');
    return starOf(onto, f.src.concept, f.src.schema, i.rel, []).map((e) => ({ name: nameOf(e, printer), e }));
  });
}

function nameOf(e: Expr, printer: Printer): string {
  // PostgreSQL's name for it does not matter, because such a SELECT is a sub-query.
  if (e.k !== 'col') return '?column?';
  if (e.leaf.k === 'out') return e.leaf.name;
  return printer.colText({ ...e, shout: false });
}

function starOf(onto: Onto, concept: string, schema: string, rel: string, path: Col['path']): Col[] {
  const entity = (['entity_id', 'entity_type', 'entity_label'] as const).map((name) => col(rel, path, { k: 'entity', name }, 'text'));
  const names = [...onto.props(concept), ...(schema === 'svc' ? [] : onto.derivedProps(concept))];
  return [...entity, ...names.map((name) => col(rel, path, { k: 'prop', name }, onto.prop(name).kind))];
}
