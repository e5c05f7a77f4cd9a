/** The console. See docs/console.md. */
import { render } from 'preact';
import { product } from './api/http.ts';
import { resume } from './api/session.ts';
import { App } from './app.tsx';
import { restoreTheme } from './parts/theme.ts';

document.title = `${product} console`;
restoreTheme();
await resume();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
