import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** A git that ended with an error; `stderr` is what it said (C locale), at most its last 64 KiB. */
export class GitFailure extends Error {
  readonly stderr: string;

  constructor(command: string, status: string, stderr: string) {
    super(`git ${command} ended with ${status}`);
    this.name = 'GitFailure';
    this.stderr = stderr;
  }
}

export interface RunOptions {
  /** Added to the environment of this git only. */
  env?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Takes the output piece by piece, of any length; the call then answers an empty text. */
  onOutput?: ((text: string) => void) | undefined;
  /** Called with each line of progress. */
  onProgress?: ((line: string) => void) | undefined;
}

/** Runs git with an argument vector and answers its output (at most 1 MiB); rejects with `GitFailure` or the signal's reason. */
export type RunGit = (args: readonly string[], options: RunOptions) => Promise<string>;

const STDOUT_MAX = 1024 * 1024;
const STDERR_MAX = 64 * 1024;
const FALLBACK_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** What git may see of the environment that Muster itself runs in. */
const PASSED_ON = [
  'PATH',
  'TMPDIR',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
];

export interface GitProcessOptions {
  gitBinary: string;
  /** Transports that git may use, in git's own words. */
  protocols: readonly string[];
  /** Stands in for HOME, so that no file of a user (`.netrc`, ignore lists) is read. */
  home: string;
  /** Where PATH and proxy variables are taken from; all others stay out. */
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the one place that starts git: own configuration file, C locale, no prompt, allowed transports only, and a process group
 * of its own that is killed as a whole when the signal aborts.
 */
export function createRunGit(options: GitProcessOptions): RunGit {
  const base: Record<string, string> = {
    PATH: FALLBACK_PATH,
    ...passedOn(options.environment),
    HOME: options.home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'gitconfig'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: options.protocols.join(':'),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
  return (args, { env, signal, onOutput, onProgress }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const child = spawn(options.gitBinary, args, {
        env: { ...base, ...env },
        cwd: '/',
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const killGroup = (): void => {
        if (child.pid === undefined) return;
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {
          // The whole group has ended already.
        }
      };
      signal.addEventListener('abort', killGroup, { once: true });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (onOutput) onOutput(text);
        else if (stdout.length < STDOUT_MAX) stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-STDERR_MAX);
        if (onProgress) for (const line of text.split(/[\r\n]+/)) if (line.trim() !== '') onProgress(line.trim());
      });
      const command = args.find((word) => /^[a-z]/.test(word)) ?? '';
      child.once('error', (error) => {
        signal.removeEventListener('abort', killGroup);
        reject(new GitFailure(command, 'no start', `fatal: git cannot be started: ${error.message}`));
      });
      child.once('close', (code, killedBy) => {
        signal.removeEventListener('abort', killGroup);
        if (signal.aborted) reject(signal.reason);
        else if (code === 0) resolve(stdout);
        else reject(new GitFailure(command, killedBy ?? `status ${code}`, stderr));
      });
    });
}

function passedOn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = environment[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
