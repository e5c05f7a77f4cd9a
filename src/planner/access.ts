/** What a caller may see of rows and values: the policies in force for it, as the planner gets them (docs/design/policies.md#policies-in-force). */

/** Conditions of one concept of which at least one must hold for a row to be shown; none at all: no row is. */
export interface RowRule {
  /** The concept's name. */
  readonly concept: string;
  /** Stored conditions in the words of the concept, with the names of their policies. */
  readonly conditions: readonly { readonly policy: string; readonly condition: string }[];
}

/** What stands instead of a value. FULL: `****` for text, else NULL. PARTIAL and HASH: of texts only. WITH: a stored expression in the words of the concept. */
export type Mask =
  | { readonly kind: 'full' }
  | { readonly kind: 'null' }
  | { readonly kind: 'hash' }
  | { readonly kind: 'partial'; readonly first: number; readonly filler: string; readonly last: number }
  | { readonly kind: 'with'; readonly expression: string };

/** A mask on a property: of one concept (its rows, through whatever concept they are read), or of all (`concept` null). */
export interface MaskRule {
  readonly policy: string;
  readonly property: string;
  readonly concept: string | null;
  readonly mask: Mask;
}

/** Who asks, as conditions and masks may read it: svc_username(), svc_has_role(text), svc_claim(text). */
export interface CallerFacts {
  readonly username: string;
  readonly roles: readonly string[];
  /** Claims of the token by name, as texts; empty for who came without a JWT. */
  readonly claims: Readonly<Record<string, string>>;
}

/** The policies in force for a caller. Who has none, or bypasses them (admins): no `Access` at all. */
export interface Access {
  readonly rows: readonly RowRule[];
  readonly masks: readonly MaskRule[];
  readonly caller: CallerFacts;
  /** A secret of the deployment, with which masks of kind HASH and masked keys are made. */
  readonly maskKey: string;
}
