/**
 * What several views need, and the frame of the console does not. The build lets every script of the console contain it, so that it becomes one file with the first view:
 * without this, each combination of views has a file of its own, which is one more request when a view opens, and compresses worse.
 */
import './access/statement-form.tsx';
import './access/statements.ts';
import './ask/available.ts';
import './ask/mcp.ts';
import './connect/snippets.ts';
import './model/current.ts';
import './parts/basics.tsx';
import './parts/later.tsx';
import './parts/restrictions.tsx';
import './parts/table.tsx';
import './query/places.ts';
