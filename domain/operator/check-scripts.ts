import { absolutePath } from './paths.ts';
import type { HomeFiles } from './ports.ts';
import { type RoleSurroundings, roleCandidates } from './role-candidates.ts';
import type { EntryInFile } from './watch-entry.ts';
import { isMistaken, type Say, type WatchFinding } from './watch-errors.ts';

interface Surroundings extends RoleSurroundings {
  files: HomeFiles;
}

const NEITHER = 'must specify Role or Playbook';

/**
 * Says which playbooks and roles of an entry are missing, also those of its finalizer, and what a finalizer lacks. A path that was given
 * is looked for in any case, also beside variables. Keys of which something was said before are left alone.
 */
export function checkScripts(entry: EntryInFile, said: readonly WatchFinding[], where: Surroundings, say: Say): void {
  const given = (key: string): boolean => isMistaken(said, key);
  if (entry.playbook || entry.role) checkPath(entry, '', where, say);
  else if (!given('playbook') && !given('role')) {
    say({ code: 'W6', field: 'playbook', message: NEITHER, fix: 'add playbook: PATH or role: NAME' });
  }
  const { finalizer } = entry;
  if (finalizer === undefined) return;
  if (!finalizer.name && !given('finalizer.name')) {
    const fix = 'add finalizer.name, such as demo.example.com/finalizer';
    say({ code: 'W9', field: 'finalizer.name', message: 'finalizer must have name', fix });
  }
  if (finalizer.playbook || finalizer.role) checkPath(finalizer, 'finalizer.', where, say);
  else if (Object.keys(finalizer.vars ?? {}).length === 0 && !given('finalizer')) {
    const fix = 'give the finalizer a playbook, a role, or vars for the playbook of the entry';
    say({ code: 'W10', field: 'finalizer', message: NEITHER, fix });
  }
}

function checkPath(
  { playbook, role }: { playbook?: string; role?: string },
  prefix: string,
  { files, ...where }: Surroundings,
  say: Say,
): void {
  if (playbook) {
    const path = absolutePath(where.home, playbook);
    if (files.exists(path)) return;
    const message = `playbook: ${path} was not found`;
    const fix = 'put the playbook there, or correct the path, which begins at the home of the operator';
    say({ code: 'W7', field: `${prefix}playbook`, message, fix, looked_at: [path] });
  } else if (role) {
    const candidates = roleCandidates(role, where);
    if (candidates.some((path) => files.exists(path))) return;
    const fix = 'put the role in the folder roles of the home, or name its folder in ANSIBLE_ROLES_PATH';
    say({ code: 'W8', field: `${prefix}role`, message: `role: ${role} was not found`, fix, looked_at: candidates });
  }
}
