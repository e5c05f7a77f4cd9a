/** Views and cubes of a generated world: over its concepts, and views over views. */
import { refusalsOf } from './block.ts';
import { Evaluator } from './evaluate.ts';
import type { WorldFeatures } from './gen-base.ts';
import { QueryGen } from './gen-query.ts';
import type { Rng } from './rng.ts';
import type { ViewSpec, World } from './world.ts';

/** The world with some views and cubes; those that cannot be asked for (400) are left out. */
export function withViews(r: Rng, world: World, features: WorldFeatures): World {
  let out = world;
  const add = (spec: Omit<ViewSpec, 'name'>, name: string) => {
    const evaluator = new Evaluator(out);
    try {
      if (refusalsOf(spec.q, evaluator.onto).size) return;
      if (!spec.cube && evaluator.run(spec.q).rows.length > 60) return;
    } catch {
      return;
    }
    out = { ...out, views: [...(out.views ?? []), { name, ...spec }] };
  };
  if (features.views && r.chance(60))
    for (let n = r.int(1, 2); n > 0; n--) add({ cube: false, ...new QueryGen(r, out, new Evaluator(out).onto).view() }, `${r.pick(['v', 'Seen by'])} ${n}`);
  if (features.cubes && r.chance(60))
    for (let n = r.int(1, 2); n > 0; n--) {
      const cube = new QueryGen(r, out, new Evaluator(out).onto).cube();
      if (cube) add({ cube: true, ...cube }, `cube${n}`);
    }
  return out;
}
