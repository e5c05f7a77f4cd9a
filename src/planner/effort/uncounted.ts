/** Equal columns that are not counted. */
import { Equalities } from './equalities.ts';

/** Counts nothing: for statements with few joins, and for measurements that do not count. */
class Uncounted extends Equalities {
  override add(): void {}
  override alias(): void {}
  override column(): void {}
  override condition(): void {}
  override next(): void {}
  override using(): void {}
  override cost(): number {
    return 0;
  }
}

export const UNCOUNTED: Equalities = new Uncounted(undefined);
