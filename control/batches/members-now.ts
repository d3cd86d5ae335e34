import { differsFromSession, type MemberNow, type SessionLayer } from '../../domain/batches/member-writes.ts';
import { isBeforeBoot } from '../../domain/components/boot.ts';
import type { Component } from '../../domain/components/schema.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { createStatusReader } from '../components/desired-layers.ts';
import { desiredDigest } from './desired-digest.ts';

/** What was so when the members were sent, and what their session says of them. */
export interface SentFacts {
  /** Digest of what was desired, null to compare with nothing. */
  desired: string | null;
  /** What their session was made to run. */
  had: readonly SessionLayer[];
  admittedAt: Date | null;
  absent: readonly string[];
}

/** Components of a batch as the rules see them, judged by configurations and options as they are now. */
export async function membersNow(
  db: Db,
  components: Iterable<{ component: Component; bootedAt: Date | null }>,
  options: Options,
  { desired, had, admittedAt, absent }: SentFacts,
): Promise<MemberNow[]> {
  const members = [...components];
  const reader = createStatusReader(db, options);
  await reader.prepare(members.map(({ component }) => component));
  const missing = new Set(absent);
  return members.map(({ component, bootedAt }) => {
    const layers = reader.desiredState(component);
    const layersNow = layers.map(({ clone_url = '', playbook, commit = '', status }) => ({
      clone_url,
      playbook: playbook || options.default_playbook,
      commit,
      status,
    }));
    const isAnother = desired !== null && desiredDigest(layers, options) !== desired;
    return {
      id: component.id,
      status: reader.of(component).status,
      layers: layersNow,
      last: component.state.at(-1) ?? null,
      desiredChanged: isAnother || differsFromSession(layersNow, had),
      rebooted: isBeforeBoot(admittedAt, bootedAt),
      absent: missing.has(component.id),
    };
  });
}
