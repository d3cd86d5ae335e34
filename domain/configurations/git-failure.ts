import type { ErrorCode } from '../errors.ts';
import { maskUrlCredentials } from '../text/mask-url.ts';

/** First match wins; what matches nothing may pass by itself and is `clone_failed`, which is tried again. */
const KINDS: readonly (readonly [ErrorCode, RegExp])[] = [
  ['repository_unsafe', /invalid path|beyond a symbolic link/i],
  [
    'repository_url_refused',
    /transport '[^']*' not allowed|strange (?:host|path)name .* blocked|credential url cannot be/i,
  ],
  [
    'repository_untrusted',
    /SSL certificate problem|certificate verif(?:y|ication) (?:failed|locations)|no alternative certificate subject name|certificate subject name .* does not match|does not match (?:the )?(?:target )?host|problem with the (?:SSL CA|local SSL) cert|error setting certificate/i,
  ],
  [
    'commit_not_found',
    /not our ref|unadvertised object|couldn't find remote ref|no such remote ref|reference is not a tree/i,
  ],
  [
    'repository_not_found',
    /returned error: 404|repository '[^']*' not found|does not appear to be a git repository|repository not found|repository .*does not exist|repository not exported|no such repository|could not be found or you don't have permission|could not find repository|project .*not found|not found: did you run git update-server-info/i,
  ],
  [
    'repository_auth_failed',
    /authentication failed|could not read (?:username|password)|returned error: 40[13]|permission denied|host key verification failed|remote host identification has changed|access denied|invalid (?:username|credentials)|too many authentication failures/i,
  ],
];

const NOISE =
  /^(?:hint:|warning:|remote: (?:Enumerating|Counting|Compressing|Total)|Receiving|Resolving|Updating files|Cloning into|From |POST git|Please make sure you have|and the repository exists|fatal: Could not read from remote repository|fatal: the remote end hung up|\s*$)/i;
const SAYS_WHY = /^(?:fatal|error|remote: (?:fatal|error)|ssh|[A-Za-z0-9_.@[\]:-]+: Permission denied)/i;

/** What a failed git said: the catalogue's code and the last line that tells the reason, without credentials. */
export function readGitFailure(stderr: string): { code: ErrorCode; line: string } {
  const code = KINDS.find(([, pattern]) => pattern.test(stderr))?.[0] ?? 'clone_failed';
  return { code, line: maskUrlCredentials(lastUsefulLine(stderr)) };
}

/** The last line of git's messages that says why; progress, hints and generic endings are passed over. */
export function lastUsefulLine(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => line.trimEnd());
  const useful = lines.filter((line) => !NOISE.test(line));
  const line = useful.findLast((one) => SAYS_WHY.test(one)) ?? useful.at(-1) ?? lines.findLast((one) => one !== '');
  return (line ?? 'git gave no reason').slice(0, 400);
}
