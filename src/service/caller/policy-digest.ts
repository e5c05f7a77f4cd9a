/** The part of a cached result's key that depends on policies, so that a caller gets no rows of a caller with other policies. */
import { sha256 } from '../../auth/tokens.ts';
import type { Access } from '../../planner/secure/access.ts';

/**
 * Returns a digest of the policies that apply to a caller, of the properties of the caller that they may read, and of the
 * key of masks. Returns an empty text if no policies apply, because all such callers get the same rows.
 */
export const policyDigest = async (access: Access | undefined): Promise<string> => (access === undefined ? '' : sha256(canonical(access)));

/** JSON with the members of objects sorted by name. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`)
    .join(',')}}`;
}
