import { type RefObject, useEffect, useSyncExternalStore } from 'react';

/** Keys of one letter can be switched off in this browser. */
const STORED = 'muster-keys';
const OFF = 'off';
const watchers = new Set<() => void>();

/** Returns whether keys of one letter do something. */
export function keysAreOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== OFF;
  } catch {
    // A browser that keeps nothing.
    return true;
  }
}

/** Switches them on or off, for all pages of this browser. */
export function switchKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, OFF);
  } catch {
    // As it was.
  }
  for (const tell of watchers) tell();
}

/** Whether they do something, for a switch that shows it. */
export function useKeysAreOn(): boolean {
  return useSyncExternalStore(onSwitch, keysAreOn);
}

function onSwitch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
  };
}

/** Whether a key is meant for what takes text, or goes with another one. */
export function isTyped({ target, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  if (ctrlKey || altKey || metaKey) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target.isContentEditable || target.closest('textarea, select, dialog') !== null;
}

/** `/` leads to the filter of a page. */
export function useSlash(filter: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const go = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyped(event) || !keysAreOn()) return;
      event.preventDefault();
      filter.current?.focus();
    };
    document.addEventListener('keydown', go);
    return () => document.removeEventListener('keydown', go);
  }, [filter]);
}

/** `j` and `k` lead through the rows of a table, by the links that their heads are; Enter opens. */
export function useRowKeys(table: RefObject<HTMLTableElement | null>, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const go = (event: KeyboardEvent) => {
      if (!['j', 'k'].includes(event.key) || isTyped(event) || !keysAreOn()) return;
      const links = [...(table.current?.querySelectorAll<HTMLElement>('tbody th a') ?? [])];
      const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
      const next = links[at < 0 ? 0 : at + (event.key === 'j' ? 1 : -1)];
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
    };
    document.addEventListener('keydown', go);
    return () => document.removeEventListener('keydown', go);
  }, [table, isOn]);
}
