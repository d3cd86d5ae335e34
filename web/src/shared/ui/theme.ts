/** Light or dark: as the system has it, or as a user has chosen for this browser. */
import { useSyncExternalStore } from 'react';

const STORED = 'muster-theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
const watchers = new Set<() => void>();

/** Returns what is chosen. */
export function themeNow(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return THEMES.find((theme) => theme === stored) ?? 'system';
  } catch {
    // A browser that keeps nothing.
    return 'system';
  }
}

/** Shows the page in the chosen theme. */
export function showTheme(): void {
  const theme = themeNow();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Chooses a theme, for all pages of this browser. */
export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, theme);
  } catch {
    // As it was.
  }
  showTheme();
  for (const tell of watchers) tell();
}

/** What is chosen, for a control that shows it. */
export function useTheme(): Theme {
  return useSyncExternalStore(onTheme, themeNow);
}

/** Tells `watcher` when another theme was chosen here. Returns what ends it. */
export function onTheme(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
  };
}
