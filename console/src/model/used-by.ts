/** What refers to a concept. Pure: no DOM, no request. */
import type { Model } from './model.ts';

export interface Uses {
  /** Views and cubes whose text names the concept. */
  readonly views: readonly string[];
  /** Concepts whose relationships lead to it, or whose definition names it. */
  readonly concepts: readonly string[];
  /** Calculated properties and measures whose paths lead to it. */
  readonly properties: readonly string[];
}

const pattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a text has a name as a word. */
export function mentions(name: string): (text: string) => boolean {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_])${pattern(name)}(?![\\p{L}\\p{N}_])`, 'u');
  return (text) => word.test(text);
}

export function usesOf(model: Model, name: string): Uses {
  const escaped = pattern(name);
  const names = mentions(name);
  const leads = new RegExp(`\\[${escaped}[\\]*]`, 'u');
  return {
    views: Object.keys(model.detail.views).filter((view) => names(model.detail.views[view]?.query ?? '')),
    concepts: model.detail.ontology
      .filter((c) => c.concept !== name)
      .filter((c) => names(c.query ?? '') || c.relationships.some((r) => r.target === name && !r.is_inverse && r.inherited_from === null))
      .map((c) => c.concept),
    properties: Object.keys(model.detail.properties).filter((p) => leads.test(model.detail.properties[p]?.expression ?? '')),
  };
}
