/** Replaces each provider that a build omits (`npm run build -- --llm ...`, docs/deploy.md). */
import { misconfigured } from './errors.ts';
import type { Open } from './open.ts';

export const open: Open = () => {
  throw misconfigured('this build has no provider of that type');
};
