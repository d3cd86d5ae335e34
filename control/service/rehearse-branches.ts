/** Branches in a dry run: the rest of what would change is told also where a remote does not answer in time. */
import type { GitReferences } from '../../domain/configurations/ports.ts';
import { maskUrlCredentials } from '../../domain/text/mask-url.ts';
import { findCommitOfBranch } from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { REMOTES_MS, readRehearsalNotes } from './rehearsal-notes.ts';

/** Stands for a commit that the remote has not told. */
const UNKNOWN_COMMIT = '0'.repeat(40);

/**
 * Returns references that are resolved within the time of the dry run. A branch that is not resolved then is a warning, and stands for the
 * commit that a configuration has of it. What a remote refuses is refused as ever.
 */
export function rehearsedBranches(db: Db, git: GitReferences): GitReferences {
  return {
    resolveRef: async ({ signal, ...request }) => {
      const { remotes, warnings } = readRehearsalNotes();
      const late = Promise.withResolvers<null>();
      const stop = () => late.resolve(null);
      if (remotes.aborted) stop();
      else remotes.addEventListener('abort', stop, { once: true });
      try {
        const asked = git.resolveRef({ ...request, signal: AbortSignal.any([signal, remotes]) });
        // What comes of it afterwards is of no use any more.
        asked.catch(() => undefined);
        const commit = await Promise.race([asked, late.promise]);
        if (commit !== null) return commit;
      } catch (error) {
        if (!remotes.aborted || signal.aborted) throw error;
      } finally {
        remotes.removeEventListener('abort', stop);
      }
      const known = await findCommitOfBranch(db, request);
      const stands = known === null ? 'zeros stand for it' : 'the stored commit stands for it';
      const place = `branch ${request.ref} of ${maskUrlCredentials(request.url)}`;
      warnings.push(`${place} was not resolved within ${REMOTES_MS / 1_000} s: its commit is not known, ${stands}`);
      return known ?? UNKNOWN_COMMIT;
    },
  };
}
