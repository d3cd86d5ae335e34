/** Files that git-lfs keeps outside of the repository, which has pointers in their place. */
import type { ErrorCode } from '../errors.ts';

/** No pointer is longer, bytes. */
export const POINTER_MAX = 1024;
const POINTER = /^version https?:\/\/(?:git-lfs\.github\.com|hawser\.github\.com|git-media\.io)\/[^\n]*\n/;

/** Whether a file's beginning is that of a pointer. */
export function isLfsPointer(text: string): boolean {
  return POINTER.test(text) && /^oid [a-z0-9]+:[0-9a-f]{40,128}$/m.test(text);
}

const KINDS: readonly (readonly [ErrorCode, RegExp])[] = [
  [
    'repository_auth_failed',
    /authentication required|authorization error|\b40[13]\b|permission denied|bad credentials|could not read (?:username|password)|askpass/i,
  ],
  ['repository_untrusted', /x509|certificate/i],
  [
    'lfs_object_missing',
    /\b404\b|\b410\b|not found|does not exist|no such file|missing object|missing on the server|missing protocol/i,
  ],
];

/** What a failed git-lfs said: the catalogue's code and the line that says why. What fits nothing may pass by itself. */
export function readLfsFailure(stderr: string): { code: ErrorCode; line: string } {
  const code = KINDS.find(([, pattern]) => pattern.test(stderr))?.[0] ?? 'clone_failed';
  const lines = stderr.split(/[\r\n]+/).map((line) => line.trim());
  const useful = lines.filter(
    (line) => line !== '' && !/^(?:fetch:|Fetching|Downloading|error: failed to fetch some)/.test(line),
  );
  return {
    code,
    line: (useful.at(-1) ?? lines.findLast((line) => line !== '') ?? 'git-lfs gave no reason').slice(0, 400),
  };
}
