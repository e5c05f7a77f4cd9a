/** The statements that the user ran before. */
import { texts } from '../texts.ts';
import { forget, past } from './sheets.ts';

export function History({ ontology, choose }: { readonly ontology: string; choose(sql: string): void }) {
  const own = past.value.filter((p) => p.ontology === ontology);
  return (
    <section class="result">
      {own.length === 0 ? (
        <p class="empty">{texts.query.noHistory}</p>
      ) : (
        <div class="body">
          <ul class="history">
            {own.map((p) => (
              <li key={p.sql}>
                <button type="button" title={p.sql} onClick={() => choose(p.sql)}>
                  {p.sql}
                </button>
              </li>
            ))}
          </ul>
          <p class="bar">
            <button type="button" onClick={forget}>
              {texts.query.clearHistory}
            </button>
          </p>
        </div>
      )}
    </section>
  );
}
