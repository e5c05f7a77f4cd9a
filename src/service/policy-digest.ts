/** What of a caller's policies is part of the key of a cached result, so that nobody gets rows that were made for another. */
import { sha256 } from '../auth/tokens.ts';
import type { Access } from '../planner/access.ts';

/**
 * A digest of the policies in force for a caller, of what they may read of the caller, and of the key of masks; the empty
 * text where none are in force: then all such callers get the same rows.
 */
export const policyDigest = async (access: Access | undefined): Promise<string> => (access === undefined ? '' : sha256(canonical(access)));

/** JSON with the members of objects in the order of their names. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`)
    .join(',')}}`;
}
