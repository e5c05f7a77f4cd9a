/**
 * Words of business and everyday language with similar meanings, for models whose concepts have no synonyms of their own. They are
 * only hints: the model's own words always have more weight. Pure.
 */
import { stem } from './words.ts';

/** The words of a line may replace each other. A word may occur in several lines. */
const GROUPS = `
customer client buyer consumer purchaser shopper patron guest
person people human individual resident inhabitant
employee staff worker colleague personnel
manager boss supervisor superior chief head
user account member login
contact person
company firm business enterprise organization organisation corporation
supplier vendor provider producer manufacturer
shop store branch outlet
site location place address
city town settlement municipality
country nation state
region area territory zone
continent region
department division unit team
product item article goods merchandise
order purchase
purchase buy acquire
sale sell
revenue turnover sales income earnings proceeds earn
profit margin gain
price cost rate fee charge tariff expense
salary wage pay earn earnings compensation
invoice bill
payment money transaction pay
amount sum money value
quantity amount number count
discount rebate reduction
currency money
stock inventory
shipment delivery shipping dispatch
warehouse depot storehouse
category kind type class group
rating review feedback opinion score
comment note remark feedback
hire rental rent loan lease
booking reservation
extra accessory addon option
repair fix maintenance service
fault defect problem damage failure
ticket case issue incident
task job todo
project job engagement
contract agreement deal
vehicle car automobile
flight trip journey
doctor physician
patient case
teacher instructor professor
student pupil learner
course class lecture
movie film
song track
author writer
book title publication
language tongue
border neighbour neighbor
population inhabitants people residents
capital seat
begin start
end finish
born birth
open opened
phone telephone mobile
email mail
picture photo image
`;

const near = new Map<string, ReadonlySet<string>>();
for (const group of GROUPS.trim().split('\n')) {
  const all = group.split(' ').map(stem);
  for (const word of all) near.set(word, new Set([...(near.get(word) ?? []), ...all]));
}

/** The words related to a stem, without the stem itself. */
export const relatives = (word: string): readonly string[] => [...(near.get(word) ?? [])].filter((other) => other !== word);
