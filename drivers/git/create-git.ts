import { parseRepositoryUrl, type RepositoryUrl } from '../../domain/configurations/repository-url.ts';
import { type CloneRequest, type CloneResult, cloneRepository } from './clone.ts';
import type { GitContext } from './git-context.ts';
import { createRunGit } from './git-process.ts';
import { createMirrors } from './mirrors.ts';
import { PUBLIC_CA_FILES } from './public-certificates.ts';
import { resolveHead } from './resolve-head.ts';
import { type ResolveRequest, resolveRef } from './resolve-ref.ts';

export interface GitOptions {
  /** Folder of the bare mirrors; made at first use. */
  mirrorsDir: string;
  /** Schemes that repositories may have: `https`, `http`, `ssh`, `git`, `file`. */
  allowedSchemes: readonly string[];
  /** Folder for short-lived files (certificates), which must exist. */
  tempDir: string;
  /** Files of which the first that there is holds the public certificates. Default: where systems keep them. */
  publicCaFiles?: readonly string[];
  /** Default `git`, searched in PATH. */
  gitBinary?: string;
  /** Where PATH and the proxy variables are taken from; nothing else of it reaches git. Default: a usual PATH, no proxy. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Told what was repaired, with clean addresses only. */
  log?: (message: string) => void;
}

export interface Git {
  /** Throws `repository_url_refused` when the address may not be used here (cfs-decision h). */
  checkRepositoryUrl(url: string): RepositoryUrl;
  /** Makes `dest` a full clone with `commit` checked out; see `CloneRequest`. */
  clone(request: CloneRequest): Promise<CloneResult>;
  /** The full commit id that a branch, a tag or the beginning of a commit id means now. */
  resolveRef(request: ResolveRequest): Promise<string>;
  /** The full commit id that the default branch is at now. */
  resolveHead(request: Omit<ResolveRequest, 'ref'>): Promise<string>;
  /** Removes the mirrors that nobody used for so many milliseconds, never one in use; answers how many. */
  pruneMirrors(options: { unusedForMs: number; signal?: AbortSignal }): Promise<number>;
}

/** The git driver: argument vectors only, no shell, no configuration but its own, a cache of bare mirrors (cfs-flows 2). */
export function createGit(options: GitOptions): Git {
  const run = createRunGit({
    gitBinary: options.gitBinary ?? 'git',
    protocols: options.allowedSchemes,
    home: options.tempDir,
    environment: options.environment ?? {},
  });
  const context: GitContext = {
    allowedSchemes: options.allowedSchemes,
    tempDir: options.tempDir,
    publicCaFiles: options.publicCaFiles ?? PUBLIC_CA_FILES,
    run,
    mirrors: createMirrors({ dir: options.mirrorsDir, run }),
    log: options.log ?? (() => undefined),
  };
  return {
    checkRepositoryUrl: (url) => parseRepositoryUrl(url, options.allowedSchemes),
    clone: (request) => cloneRepository(context, request),
    resolveRef: (request) => resolveRef(context, request),
    resolveHead: (request) => resolveHead(context, request),
    pruneMirrors: (prune) => context.mirrors.prune(prune),
  };
}
