/**
 * The algebra of grants (docs/design/rights-and-visibility.md#privileges-and-resources): EDIT includes QUERY includes ACCESS; ALL covers everything below a
 * resource. These functions are pure.
 */

import { fold, type GrantRow, type Privilege } from '../catalog/snapshot.ts';

/** The parts of a resource, such as ['ontology', 'store', 'concept', 'city']. They are compared ignoring case. */
export type Resource = readonly string[];

/** A principal whose rights are checked. */
export interface Holder {
  readonly isAdmin: boolean;
  readonly grants: readonly GrantRow[];
}

const RANK: Readonly<Record<Privilege, number>> = { auth: 0, access: 1, query: 2, edit: 3 };

/** True if the privilege `granted` includes `wanted`. AUTH includes no other privilege, and no other privilege includes AUTH. */
export const includes = (granted: Privilege, wanted: Privilege): boolean =>
  granted === wanted || (granted !== 'auth' && wanted !== 'auth' && RANK[granted] >= RANK[wanted]);

/** The grants at one place of the tree of resources: a bit for each privilege, and OPTION times it with grant option. */
interface Place {
  readonly below: Map<string, Place>;
  /** Of grants on exactly this resource. */
  own: number;
  /** Of grants on ALL of this resource. */
  all: number;
}

const newPlace = (): Place => ({ below: new Map(), own: 0, all: 0 });

const OPTION = 16;
const BIT: Readonly<Record<Privilege, number>> = { auth: 1, access: 2, query: 4, edit: 8 };
/** The bits of the privileges that include a privilege. */
const INCLUDING: Readonly<Record<Privilege, number>> = { auth: 1, access: 14, query: 12, edit: 8 };

const trees = new WeakMap<readonly GrantRow[], { readonly root: Place; readonly count: number }>();

/**
 * The grants as a tree. Others may give a user any number of grants, and a request checks each object of an ontology, so a check must not visit all of them. A
 * script adds grants to the end of its own list: the tree then gets the new ones.
 */
function treeOf(grants: readonly GrantRow[]): Place {
  const known = trees.get(grants);
  if (known?.count === grants.length) return known.root;
  const { root, count } = known !== undefined && known.count < grants.length ? known : { root: newPlace(), count: 0 };
  for (const { key, privilege, all, grantOption } of count === 0 ? grants : grants.slice(count)) {
    let place = root;
    for (const part of key) {
      const next: Place = place.below.get(part) ?? newPlace();
      place.below.set(part, next);
      place = next;
    }
    place[all ? 'all' : 'own'] |= BIT[privilege] * (grantOption ? OPTION + 1 : 1);
  }
  trees.set(grants, { root, count: grants.length });
  return root;
}

/** The grants on ALL of a resource or of one that it belongs to, and its place in the tree if a grant names it or something below it. */
function found({ grants }: Holder, resource: Resource): { readonly all: number; readonly place: Place | undefined } {
  let place: Place | undefined = treeOf(grants);
  let { all } = place;
  for (const part of resource) {
    place = place.below.get(fold(part));
    if (place === undefined) break;
    all |= place.all;
  }
  return { all, place };
}

/** True if the holder has the privilege on this resource. Administrators have all privileges. */
export function can(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  return holder.isAdmin || has(holder, INCLUDING[privilege], resource, false);
}

function has(holder: Holder, bits: number, resource: Resource, onAll: boolean): boolean {
  const { all, place } = found(holder, resource);
  return ((all | (onAll ? 0 : (place?.own ?? 0))) & bits) !== 0;
}

/** True if the holder has the privilege on the resource and on everything below it. */
export function canAll(holder: Holder, privilege: Privilege, resource: Resource): boolean {
  return holder.isAdmin || has(holder, INCLUDING[privilege], resource, true);
}

/** True if the holder may see the resource: with any privilege on it or on something below it. For example, a grant on a concept makes the name of its ontology visible. */
export function canSee(holder: Holder, resource: Resource): boolean {
  if (holder.isAdmin) return true;
  const { all, place } = found(holder, resource);
  return all > 0 || (place !== undefined && place.own + place.below.size > 0);
}

/** True if the holder may grant the privilege: with a grant with grant option that covers it. */
export function canGrant(holder: Holder, privilege: Privilege, resource: Resource, all: boolean): boolean {
  return holder.isAdmin || has(holder, OPTION * INCLUDING[privilege], resource, all);
}
