/** What the parts of the git driver share. */
import type { RunGit } from './git-process.ts';
import type { Mirrors } from './mirrors.ts';

/** What the parts of this driver share. */
export interface GitContext {
  allowedSchemes: readonly string[];
  tempDir: string;
  publicCaFiles: readonly string[];
  run: RunGit;
  mirrors: Mirrors;
  log: (message: string) => void;
}
