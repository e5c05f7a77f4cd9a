/** Builds the SQL of a filter in two forms: with parameters, to be planned, and with literals, to be shown. */
import { badRequest } from '../../errors.ts';
import type { FilterGroup, FilterOperator } from '../../language/filters.ts';
import { likePattern } from '../../language/filters-like.ts';
import { type TypedValue, typedValue } from '../../language/filters-values.ts';
import { quoteLiteral } from '../../language/quote.ts';
import type { BoundValue } from '../plan/context.ts';
import type { Subject } from './subject.ts';

const COMPARE: Readonly<Partial<Record<FilterOperator, string>>> = { eq: '=', not_eq: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** Builds both texts. Texts of a request become values only, never SQL. */
export class FilterSql {
  text = '';
  executed = '';
  readonly bound: BoundValue[] = [];

  /** Adds SQL of the service: key words, and quoted names of the model. */
  add(sql: string): this {
    this.text += sql;
    this.executed += sql;
    return this;
  }

  /** Adds a number of rows. */
  count(digits: string): this {
    return this.#value(digits, 'bigint', digits);
  }

  /**
   * Adds a condition.
   * @param expression the SQL of the subject
   * @throws SvcError 400 `bad_value`, `bad_operator`, `bad_pattern`
   */
  condition(expression: string, subject: Subject, { operator, values }: FilterGroup): this {
    const [first = ''] = values;
    this.add(`${expression} `);
    switch (operator) {
      case 'is_null':
        return this.add('IS NULL');
      case 'not_null':
        return this.add('IS NOT NULL');
      case 'in':
      case 'not_in':
        return this.#list(operator === 'in', subject, values);
      case 'like':
      case 'not_like':
        return this.#like(operator === 'like', subject, first);
      default: {
        const { text, literal } = typed(subject, first);
        return this.add(`${COMPARE[operator]} `).#value(text, subject.type?.sql, literal);
      }
    }
  }

  #value(value: BoundValue, sql: string | undefined, literal: string): this {
    this.text += this.#parameter(value, sql);
    this.executed += literal;
    return this;
  }

  #parameter(value: BoundValue, sql: string | undefined): string {
    const n = this.bound.push(value);
    return sql === undefined ? `$${n}` : `$${n}::${sql}`;
  }

  #list(within: boolean, subject: Subject, values: readonly string[]): this {
    // leave out duplicates, so that the literals do not exceed the maximum length of a statement
    const all = [...new Map(values.map((v) => typed(subject, v)).map((v) => [v.text, v])).values()];
    const sql = subject.type?.sql;
    this.text += `${within ? '= ANY' : '<> ALL'} (${this.#parameter(
      all.map((v) => v.text),
      sql === undefined ? undefined : `${sql}[]`,
    )})`;
    this.executed += `${within ? 'IN' : 'NOT IN'} (${all.map((v) => v.literal).join(', ')})`;
    return this;
  }

  #like(like: boolean, subject: Subject, value: string): this {
    const { type } = subject;
    if (type !== undefined && type.family !== 'text') {
      throw badRequest('bad_operator', `like needs a text, but \`${subject.column}\` is of type ${type.name}`, {
        hint: 'Compare it with eq, gt, lt and the like',
      });
    }
    const { operator, pattern } = likePattern(value);
    const word = operator === 'LIKE' ? (like ? 'LIKE' : 'NOT LIKE') : like ? '~' : '!~';
    return this.add(`${word} `).#value(pattern, type?.sql, quoteLiteral(pattern));
  }
}

/** Checks a value against the type of the subject. @throws SvcError 400 `bad_value` */
function typed(subject: Subject, value: string): TypedValue {
  const { type } = subject;
  if (type === undefined) return { text: value, literal: quoteLiteral(value) };
  const found = typedValue(type, value);
  if (found !== undefined) return found;
  const said = value.length > 100 ? `${value.slice(0, 100)}…` : value;
  throw badRequest('bad_value', `the value ${JSON.stringify(said)} does not fit \`${subject.column}\` of type ${type.name}`);
}
