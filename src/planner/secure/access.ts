/** The policies in force for a caller, as the planner gets them (docs/design/policies.md#policies-in-force). */

/** The row policies of one concept. A row is visible if at least one condition is true. Without conditions no row is visible. */
export interface RowRule {
  /** The name of the concept. */
  readonly concept: string;
  /** Stored conditions, whose column references are names of properties and paths of the concept, with the names of their policies. */
  readonly conditions: readonly { readonly policy: string; readonly condition: string }[];
}

/**
 * The replacement of a value. FULL is `****` for text and NULL otherwise. PARTIAL and HASH apply only to text. WITH is a stored expression over properties of
 * the concept.
 */
export type Mask =
  | { readonly kind: 'full' }
  | { readonly kind: 'null' }
  | { readonly kind: 'hash' }
  | { readonly kind: 'partial'; readonly first: number; readonly filler: string; readonly last: number }
  | { readonly kind: 'with'; readonly expression: string };

/** A mask on a property. It applies to the rows of one concept, regardless of the concept that they are read through, or to all rows (`concept` null). */
export interface MaskRule {
  readonly policy: string;
  readonly property: string;
  readonly concept: string | null;
  readonly mask: Mask;
}

/** The caller, as conditions and masks read it by svc_username(), svc_has_role(text) and svc_claim(text). */
export interface CallerFacts {
  readonly username: string;
  readonly roles: readonly string[];
  /** The claims of the token by name, as texts. Empty for a caller without a JWT. */
  readonly claims: Readonly<Record<string, string>>;
}

/** The policies in force for a caller. A caller without policies, or who bypasses them (an administrator), has no `Access`. */
export interface Access {
  readonly rows: readonly RowRule[];
  readonly masks: readonly MaskRule[];
  readonly caller: CallerFacts;
  /** A secret of the deployment, the key of HASH masks and of masked keys. */
  readonly maskKey: string;
}
