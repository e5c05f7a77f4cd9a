/** The rules for SQL: each names only what its reader can answer with. */
import { describe, expect, it } from 'vitest';
import { promptTemplates, sqlRules } from '../../../src/llm/templates.ts';

const members = (text: string): readonly string[] => ['refusal', 'readings', 'reason'].filter((name) => text.includes(`\`${name}\``));

describe('rules for SQL', () => {
  it.each([
    ['write', ['refusal', 'reason']],
    ['ask', ['refusal', 'readings']],
    ['client', ['reason']],
    ['review', []],
  ] as const)('to %s name the members %j of the answer', (purpose, names) => {
    expect(members(sqlRules('svc', purpose))).toEqual(names);
  });

  it('of clients name no member that their form of the answer lacks', () => {
    for (const name of ['generate_sql', 'generate_sql_reasoning']) {
      const text = (promptTemplates(name, 'svc') ?? []).map((m) => m.template).join('\n');
      const form = text.slice(text.lastIndexOf('Return only JSON'));
      for (const member of members(text)) expect(form, name).toContain(`"${member}"`);
    }
  });
});
