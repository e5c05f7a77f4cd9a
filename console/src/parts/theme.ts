/** Light or dark: as the system, or as the user chose. The browser stores the choice. */
import { signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
const KEY = 'console-theme';

export const theme = signal<Theme>('system');

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // a browser may refuse storage
  }
}

export function restoreTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // a browser may refuse storage
  }
  if ((THEMES as readonly string[]).includes(kept ?? '')) setTheme(kept as Theme);
}
