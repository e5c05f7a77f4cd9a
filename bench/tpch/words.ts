/** Word lists of the TPC-H standard (clause 4.2.2.13). */
const list = (text: string): readonly string[] => text.trim().split(/\s*,\s*/);

export const COLOURS = list(`almond, antique, aquamarine, azure, beige, bisque, black, blanched, blue, blush, brown, burlywood, burnished, chartreuse, chiffon,
chocolate, coral, cornflower, cornsilk, cream, cyan, dark, deep, dim, dodger, drab, firebrick, floral, forest, frosted, gainsboro, ghost, goldenrod, green, grey,
honeydew, hot, indian, ivory, khaki, lace, lavender, lawn, lemon, light, lime, linen, magenta, maroon, medium, metallic, midnight, mint, misty, moccasin, navajo,
navy, olive, orange, orchid, pale, papaya, peach, peru, pink, plum, powder, puff, purple, red, rose, rosy, royal, saddle, salmon, sandy, seashell, sienna, sky,
slate, smoke, snow, spring, steel, tan, thistle, tomato, turquoise, violet, wheat, white, yellow`);

export const TYPE_1 = list('STANDARD, SMALL, MEDIUM, LARGE, ECONOMY, PROMO');
export const TYPE_2 = list('ANODIZED, BURNISHED, PLATED, POLISHED, BRUSHED');
export const TYPE_3 = list('TIN, NICKEL, BRASS, STEEL, COPPER');
export const CONTAINER_1 = list('SM, LG, MED, JUMBO, WRAP');
export const CONTAINER_2 = list('CASE, BOX, BAG, JAR, PKG, PACK, CAN, DRUM');
export const SEGMENTS = list('AUTOMOBILE, BUILDING, FURNITURE, MACHINERY, HOUSEHOLD');
export const PRIORITIES = list('1-URGENT, 2-HIGH, 3-MEDIUM, 4-NOT SPECIFIED, 5-LOW');
export const INSTRUCTIONS = list('DELIVER IN PERSON, COLLECT COD, NONE, TAKE BACK RETURN');
export const MODES = list('REG AIR, AIR, RAIL, SHIP, TRUCK, MAIL, FOB');

export const REGIONS = list('AFRICA, AMERICA, ASIA, EUROPE, MIDDLE EAST');
/** Nations in the order of their keys, each with the key of its region. */
export const NATIONS: readonly (readonly [string, number])[] = [
  ['ALGERIA', 0],
  ['ARGENTINA', 1],
  ['BRAZIL', 1],
  ['CANADA', 1],
  ['EGYPT', 4],
  ['ETHIOPIA', 0],
  ['FRANCE', 3],
  ['GERMANY', 3],
  ['INDIA', 2],
  ['INDONESIA', 2],
  ['IRAN', 4],
  ['IRAQ', 4],
  ['JAPAN', 2],
  ['JORDAN', 4],
  ['KENYA', 0],
  ['MOROCCO', 0],
  ['MOZAMBIQUE', 0],
  ['PERU', 1],
  ['CHINA', 2],
  ['ROMANIA', 3],
  ['SAUDI ARABIA', 4],
  ['VIETNAM', 2],
  ['RUSSIA', 3],
  ['UNITED KINGDOM', 3],
  ['UNITED STATES', 1],
];

export const NOUNS = list(`foxes, ideas, theodolites, pinto beans, instructions, dependencies, excuses, platelets, asymptotes, courts, dolphins, multipliers,
sauternes, warthogs, frets, dinos, attainments, somas, Tiresias', patterns, forges, braids, hockey players, frays, warhorses, dugouts, notornis, epitaphs, pearls,
tithes, waters, orbits, gifts, sheaves, depths, sentiments, decoys, realms, pains, grouches, escapades, packages, requests, accounts, deposits`);
export const VERBS =
  list(`sleep, wake, are, cajole, haggle, nag, use, boost, affix, detect, integrate, maintain, nod, was, lose, sublate, solve, thrash, promise,
engage, hinder, print, x-ray, breach, eat, grow, impress, mold, poach, serve, run, dazzle, snooze, doze, unwind, kindle, play, hang, believe, doubt`);
export const ADJECTIVES = list(`furious, sly, careful, blithe, quick, fluffy, slow, quiet, ruthless, thin, close, dogged, daring, brave, stealthy, permanent,
enticing, idle, busy, regular, final, ironic, even, bold, silent, special, pending, unusual, express`);
export const ADVERBS = list(`sometimes, always, never, furiously, slyly, carefully, blithely, quickly, fluffily, slowly, quietly, ruthlessly, thinly, closely,
doggedly, daringly, bravely, stealthily, permanently, enticingly, idly, busily, regularly, finally, ironically, evenly, boldly, silently`);
export const PREPOSITIONS =
  list(`about, above, according to, across, after, against, along, alongside of, among, around, at, atop, before, behind, beneath, beside,
besides, between, beyond, by, despite, during, except, for, from, in place of, inside, instead of, into, near, of, on, outside, over, past, since, through,
throughout, to, toward, under, until, up, upon, without, with, within`);
export const AUXILIARIES =
  list(`do, may, might, shall, will, would, can, could, should, ought to, must, will have to, shall have to, could have to, should have to,
must have to, need to, try to`);
export const TERMINATORS = ['.', ';', ':', '?', '!', '--'] as const;
