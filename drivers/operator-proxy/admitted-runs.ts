/** Runs that the proxy lets in, and what they have open. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isSameOwner, readCredentials } from '../../domain/operator/proxy-credentials.ts';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';

const PREFIX = 'musterproxy_';
const PASSWORD_BYTES = 32;

/** Returns a password for one run, and what is kept of it. */
export function newProxyPassword(): { password: string; hash: string } {
  const password = `${PREFIX}${randomBytes(PASSWORD_BYTES).toString('base64url')}`;
  return { password, hash: hashOf(password).toString('hex') };
}

export interface AdmittedRuns {
  admit(run: AdmittedRun): void;
  end(runId: string): void;
  endAll(): void;
  /** The run that an `Authorization` header names and knows the password of; null where there is none. */
  find(header: string | undefined): AdmittedRun | null;
  /** Notes that a run has something open; `cut` is called at its end. Returns what is called when it is closed. */
  open(runId: string, cut: () => void): () => void;
}

/** Opens the list, empty. */
export function openAdmittedRuns(): AdmittedRuns {
  const runs = new Map<string, { run: AdmittedRun; cuts: Set<() => void> }>();
  const end = (runId: string) => {
    const ended = runs.get(runId);
    runs.delete(runId);
    for (const cut of ended?.cuts ?? []) cut();
  };
  return {
    admit(run) {
      runs.set(run.runId, { run, cuts: runs.get(run.runId)?.cuts ?? new Set() });
    },
    end,
    endAll() {
      for (const runId of [...runs.keys()]) end(runId);
    },
    find(header) {
      const said = readCredentials(header);
      if (said === null) return null;
      const hash = hashOf(said.password);
      let found: AdmittedRun | null = null;
      for (const { run } of runs.values()) {
        const isKnown = timingSafeEqual(hash, bytesOf(run.passwordHash));
        if (isKnown && isSameOwner(run.owner, said.owner)) found = run;
      }
      return found;
    },
    open(runId, cut) {
      const cuts = runs.get(runId)?.cuts;
      // It ended between the look at its password and now.
      if (cuts === undefined) cut();
      cuts?.add(cut);
      return () => cuts?.delete(cut);
    },
  };
}

const hashOf = (password: string): Buffer => createHash('sha256').update(password).digest();

/** Of text that is no hash come bytes that no password has. */
function bytesOf(hash: string): Buffer {
  const bytes = Buffer.from(hash, 'hex');
  return bytes.length === 32 ? bytes : Buffer.alloc(32);
}
