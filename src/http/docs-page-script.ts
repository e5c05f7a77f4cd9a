/**
 * The script of the docs page. It renders an OpenAPI document and sends requests. Content of documents and answers is
 * inserted as text, never as HTML. The token is kept in the memory of the page only.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const root = document.getElementById('app');
  const api = root.dataset.api;
  const tokenField = document.getElementById('token');
  const choice = document.getElementById('document');
  const search = document.getElementById('search');
  const message = document.getElementById('message');
  const list = document.getElementById('operations');
  const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
  let current = null;

  /** Creates an element with properties and children; strings become text nodes. */
  const el = (tag, properties, ...children) => {
    const node = document.createElement(tag);
    Object.assign(node, properties);
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
  };

  /** Renders a text; parts between backquotes become code. */
  const prose = (text) => el('p', {}, ...String(text).split(/(${'`'}[^${'`'}]*${'`'})/).map((part) => (part.length > 1 && part.startsWith('${'`'}') ? el('code', {}, part.slice(1, -1)) : part)));

  const say = (text, bad) => {
    message.textContent = text;
    message.className = bad ? 'bad' : '';
  };

  const withToken = (headers) => {
    const token = tokenField.value.trim();
    return token === '' ? headers : Object.assign({ 'x-api-key': token }, headers);
  };

  const getJson = async (path) => {
    const response = await fetch(path, { headers: withToken({}), cache: 'no-cache' });
    const body = await response.json();
    if (!response.ok) throw new Error(body.data || 'HTTP ' + response.status);
    return body;
  };

  const resolve = (value) => {
    for (let n = 0; value && value.$ref && n < 20; n++) {
      value = value.$ref.slice(2).split('/').reduce((at, key) => at && at[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')], current);
    }
    return value || {};
  };

  /** Formats a schema as a short text with indented members. */
  const outline = (schema, indent, depth) => {
    const s = resolve(schema);
    if (depth > 6) return '...';
    if (s.const !== undefined) return JSON.stringify(s.const);
    if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(' | ');
    const choices = s.anyOf || s.oneOf;
    if (choices) return choices.map((c) => outline(c, indent, depth + 1)).join('\n' + indent + '| ');
    const types = Array.isArray(s.type) ? s.type : s.type ? [s.type] : [];
    if (types.includes('array')) return '[' + (s.items ? outline(s.items, indent, depth + 1) : 'any') + ']';
    if (s.properties) {
      const inner = indent + '  ';
      const lines = Object.entries(s.properties).map(([name, member]) => {
        const described = resolve(member).description;
        return inner + name + ((s.required || []).includes(name) ? '' : '?') + ': ' + outline(member, inner, depth + 1) + (described ? '  // ' + described : '');
      });
      return '{\n' + lines.join('\n') + '\n' + indent + '}';
    }
    if (types.includes('object')) return s.additionalProperties ? '{ name: ' + outline(s.additionalProperties, indent, depth + 1) + ' }' : '{}';
    return (types.join(' | ') || 'any') + (s.format ? ' (' + s.format + ')' : '');
  };

  /** Adds line breaks to JSON without parsing it, so that numbers keep all digits. */
  const pretty = (text) => {
    let out = '';
    let indent = '';
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (c === '"') {
        const start = i;
        for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++;
        out += text.slice(start, i + 1);
      } else if (c === '{' || c === '[') {
        let next = i + 1;
        while (/\s/.test(text[next] || '')) next++;
        if (text[next] === '}' || text[next] === ']') {
          out += c + text[next];
          i = next;
        } else {
          indent += '  ';
          out += c + '\n' + indent;
        }
      } else if (c === '}' || c === ']') {
        indent = indent.slice(2);
        out += '\n' + indent + c;
      } else if (c === ',') out += ',\n' + indent;
      else if (c === ':') out += ': ';
      else if (!/\s/.test(c)) out += c;
    }
    return out;
  };

  const MAX_SHOWN = 200000;
  const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

  let count = 0;
  /** Creates a labelled input for a parameter. */
  const input = (parameter, name) => {
    const schema = resolve(parameter.schema);
    const id = 'input-' + ++count;
    const values = schema.enum || (schema.type === 'boolean' ? [true, false] : null);
    const field = values
      ? el('select', { id }, el('option', { value: '' }, ''), ...values.map((v) => el('option', { value: String(v) }, String(v))))
      : el('input', { id, type: 'text', autocomplete: 'off', spellcheck: false });
    const note = parameter.description ? el('small', {}, parameter.description) : null;
    return { in: parameter.in, name, field, row: el('div', { className: 'field' }, el('label', { htmlFor: id }, name, parameter.required ? ' *' : ''), field, note) };
  };

  const render = (method, path, item, operation) => {
    const parameters = [...(item.parameters || []), ...(operation.parameters || [])].map(resolve);
    const inputs = parameters.map((p) => input(p, p.name));
    const rows = el('div', {}, ...inputs.map((i) => i.row));
    const parts = [operation.description ? prose(operation.description) : null, rows];

    if (parameters.some((p) => p.name === '_subj_')) {
      let n = 0;
      const more = el('button', { type: 'button', className: 'quiet' }, 'Another filter');
      more.addEventListener('click', () => {
        n++;
        for (const p of parameters.filter((p) => /^_(subj|op|comp|conj)_$/.test(p.name))) {
          const added = input(Object.assign({}, p, { description: '' }), p.name.replace(/_$/, n + '_'));
          inputs.push(added);
          rows.append(added.row);
        }
      });
      parts.push(more);
    }

    const content = (resolve(operation.requestBody).content) || {};
    const type = Object.keys(content)[0];
    let body = null;
    if (type !== undefined) {
      const id = 'input-' + ++count;
      const example = type === 'application/json' ? '{\n  "ontology_name": "",\n  "query": "SELECT 1 AS one"\n}' : 'SELECT 1 AS one';
      body = el('textarea', { id, rows: 6, spellcheck: false, value: example });
      parts.push(el('div', { className: 'field' }, el('label', { htmlFor: id }, 'Body (' + type + ')'), body));
    }

    const output = el('div', { className: 'answer' });
    output.setAttribute('aria-live', 'polite');
    const send = el('button', { type: 'button' }, 'Send');
    const asCurl = el('button', { type: 'button', className: 'quiet' }, 'As curl');
    parts.push(el('div', { className: 'actions' }, send, asCurl), output);

    const call = () => {
      const query = [];
      const headers = {};
      let address = path;
      for (const { in: place, name, field } of inputs) {
        const value = field.value;
        if (place === 'path') address = address.replace('{' + name + '}', encodeURIComponent(value));
        else if (value === '' && !(name.startsWith('_comp') && inputs.some((i) => i.name === name.replace('comp', 'op') && /^(eq|not_eq|like|not_like|in|not_in)$/i.test(i.field.value)))) continue;
        else if (place === 'query') query.push(encodeURIComponent(name) + '=' + encodeURIComponent(value));
        else if (place === 'header') headers[name] = value;
      }
      if (body !== null) headers['content-type'] = type;
      return { address: address + (query.length ? '?' + query.join('&') : ''), headers, text: body === null ? undefined : body.value };
    };

    asCurl.addEventListener('click', () => {
      const { address, headers, text } = call();
      const given = Object.entries(headers).map(([k, v]) => ' \\\n  -H ' + quote(k + ': ' + v));
      const line = 'curl -X ' + method.toUpperCase() + ' ' + quote(location.origin + address) + ' \\\n  -H "x-api-key: $TOKEN"' + given.join('') + (text === undefined ? '' : ' \\\n  --data-binary ' + quote(text));
      output.replaceChildren(el('pre', {}, line));
    });

    let busy = false;
    send.addEventListener('click', async () => {
      // not "disabled", because a disabled button loses the keyboard focus
      if (busy) return;
      busy = true;
      send.setAttribute('aria-disabled', 'true');
      output.replaceChildren('...');
      try {
        const { address, headers, text } = call();
        const begun = performance.now();
        const response = await fetch(address, { method: method.toUpperCase(), headers: withToken(headers), body: text, cache: 'no-store' });
        const answer = await response.text();
        const ms = Math.round(performance.now() - begun);
        const headerLines = [...response.headers].map(([k, v]) => k + ': ' + v).join('\n');
        const json = /json/.test(response.headers.get('content-type') || '') && !/ndjson/.test(response.headers.get('content-type') || '');
        const shown = answer.slice(0, MAX_SHOWN);
        output.replaceChildren(
          el('p', { className: response.ok ? 'good' : 'bad' }, 'HTTP ' + response.status + ' in ' + ms + ' ms, ' + answer.length + ' characters'),
          el('details', {}, el('summary', {}, 'Headers'), el('pre', {}, headerLines)),
          el('pre', {}, json && answer.length <= MAX_SHOWN ? pretty(shown) : shown),
          answer.length > MAX_SHOWN ? el('p', {}, 'The first ' + MAX_SHOWN + ' characters are shown.') : '',
        );
      } catch (error) {
        output.replaceChildren(el('p', { className: 'bad' }, 'No answer: ' + error.message));
      }
      send.setAttribute('aria-disabled', 'false');
      busy = false;
    });

    const answers = el('div', {});
    for (const [status, given] of Object.entries(operation.responses || {})) {
      const response = resolve(given);
      const [mediaType, media] = Object.entries(response.content || {})[0] || [];
      const title = status + ' ' + (response.description || '');
      answers.append(el('details', {}, el('summary', {}, title), el('pre', {}, media ? mediaType + '\n' + outline(media.schema, '', 0) : 'no body')));
    }
    parts.push(el('h3', {}, 'Answers'), answers);
    return parts;
  };

  const draw = () => {
    list.replaceChildren();
    if (current === null) return;
    const wanted = search.value.trim().toLowerCase();
    const groups = new Map();
    for (const [path, item] of Object.entries(current.paths || {})) {
      for (const method of METHODS) {
        const operation = item[method];
        if (operation === undefined) continue;
        if (wanted !== '' && !(path + ' ' + operation.summary).toLowerCase().includes(wanted)) continue;
        const tag = (operation.tags || ['Operations'])[0];
        const box = el('details', { className: 'operation' }, el('summary', {}, el('b', { className: method }, method.toUpperCase()), ' ', el('code', {}, path), ' ', operation.summary || ''));
        let drawn = false;
        box.addEventListener('toggle', () => {
          if (drawn) return;
          drawn = true;
          box.append(...render(method, path, item, operation).filter((part) => part !== null));
        });
        if (!groups.has(tag)) groups.set(tag, []);
        groups.get(tag).push(box);
      }
    }
    for (const [tag, boxes] of groups) list.append(el('section', {}, el('h2', {}, tag), ...boxes));
  };

  const show = async () => {
    say('Loading ...');
    try {
      current = await getJson(choice.value === '' ? api + '/openapi.json' : api + '/openapi/' + encodeURIComponent(choice.value) + '.json');
      say(current.info.title + ', ' + current.info.version);
    } catch (error) {
      current = null;
      say(error.message, true);
    }
    draw();
  };

  const load = async () => {
    try {
      const { data } = await getJson(api + '/get_ontologies');
      choice.replaceChildren(el('option', { value: '' }, 'The service'), ...data.map((name) => el('option', { value: name }, 'Ontology ' + name)));
      choice.value = '';
    } catch (error) {
      current = null;
      draw();
      say(error.message, true);
      return;
    }
    await show();
  };

  document.getElementById('credential').addEventListener('submit', (event) => {
    event.preventDefault();
    void load();
  });
  choice.addEventListener('change', () => void show());
  search.addEventListener('input', draw);
})();
`;
