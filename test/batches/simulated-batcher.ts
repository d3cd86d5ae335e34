import { afterFailure } from '../../domain/batches/after-failure.ts';
import { afterSuccess } from '../../domain/batches/after-success.ts';
import {
  afterEnds,
  afterKeyEnds,
  FIRST_GLOBAL,
  type GlobalBackOff,
  type KeyBackOff,
  type KeyEnd,
  seenKey,
} from '../../domain/batches/back-off.ts';
import { batchKey, desiredText, pendingLayers } from '../../domain/batches/batch-key.ts';
import { commonTags } from '../../domain/batches/common-tags.ts';
import { type Candidate, joinBatches, type UnsentBatch } from '../../domain/batches/join-batches.ts';
import { judgeSession, type SessionVerdict } from '../../domain/batches/judge-session.ts';
import type { MemberNow, MemberWrite } from '../../domain/batches/member-writes.ts';
import { planSends, type SendPlan } from '../../domain/batches/plan-sends.ts';
import { revalidate } from '../../domain/batches/revalidate.ts';
import type { RolloutGate } from '../../domain/batches/rollout.ts';
import { trimBatches } from '../../domain/batches/trim-batches.ts';
import type { Component } from '../../domain/components/schema.ts';
import { appendStateLayer } from '../../domain/components/state-layers.ts';
import { type ComponentStatus, configurationStatus } from '../../domain/components/status.ts';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import type { BatcherOptions } from './batcher-world.ts';

export const OPTIONS: BatcherOptions = {
  batch_size: 25,
  batch_window: 60,
  default_batcher_retry_policy: 3,
  batcher_max_backoff: 3600,
  batcher_disable: false,
  batcher_pending_timeout: 300,
};
const DEFAULT_PLAYBOOK = 'site.yml';
/** Small, so that the collecting of a pass goes over several pages. */
const PAGE = 7;

export interface SimulatedLayer {
  clone_url: string;
  playbook: string;
  commit: string;
}

export interface SimulatedSession {
  name: string;
  createdAt: number;
  configuration: string;
  limit: string;
  hosts: string[];
  tags: Record<string, string> | undefined;
  status: SessionStatus;
  succeeded: Succeeded;
  waiting: boolean;
  deletedAt: number | null;
  /** What it recorded, by host. */
  results: Map<string, { layer: number; status: 'applied' | 'failed' }[]>;
}

interface SentBatch extends UnsentBatch {
  desired: string;
  hosts: string[];
  sentAt: number;
  waitedUntil: number | null;
  session: SimulatedSession;
}

/** The batcher's rules over a world in memory: every step of cfs-flows 5.2 in its order, times in milliseconds. */
export class SimulatedBatcher {
  options = { ...OPTIONS };
  readonly configurations = new Map<string, SimulatedLayer[]>();
  readonly components = new Map<string, Component>();
  readonly sessions: SimulatedSession[] = [];
  readonly unsent = new Map<string, UnsentBatch>();
  readonly sent = new Map<string, SentBatch>();
  readonly batchOf = new Map<string, string>();
  backOff: GlobalBackOff = FIRST_GLOBAL;
  readonly keys = new Map<string, KeyBackOff>();
  plan: SendPlan = { sends: [], waits: [], nextAt: null };
  #ids = 0;
  /** Gates of configurations with a rollout, asked at the beginning of each pass. */
  gates: () => Map<string, RolloutGate> = () => new Map();
  #gates = new Map<string, RolloutGate>();
  /** Hears each write of an ended batch, each end, and each session before it is stored. */
  onWrite: (write: MemberWrite) => void = () => {};
  onEnd: (end: KeyEnd, verdict: SessionVerdict, session: SimulatedSession) => void = () => {};
  onSend: (session: SimulatedSession, batch: UnsentBatch, now: number) => void = () => {};

  pass(now: number): void {
    this.#check(now);
    this.#gates = this.gates();
    this.#revise();
    if (!this.options.batcher_disable) this.#collect(now);
    this.#send(now);
  }

  layersOf(component: Component): SimulatedLayer[] | null {
    return this.configurations.get(component.desired_config) ?? null;
  }

  statusOf(component: Component): ComponentStatus {
    return configurationStatus(component, this.layersOf(component), {
      ...this.options,
      default_playbook: DEFAULT_PLAYBOOK,
    });
  }

  /** Key of a component that is pending, else null. */
  keyOf(component: Component): string | null {
    const { status, layers } = this.statusOf(component);
    if (status !== 'pending') return null;
    return batchKey(component.desired_config, pendingLayers(layers), component.state.at(-1)?.status ?? '');
  }

  report(id: string, entries: MemberWrite['entries'], errors: number): void {
    const component = this.components.get(id);
    if (component === undefined) return;
    for (const entry of entries) {
      component.state = appendStateLayer(component.state, { ...entry, last_updated: '' });
    }
    component.error_count += errors;
  }

  #desiredOf(configuration: string): string {
    return desiredText(this.configurations.get(configuration) ?? [], DEFAULT_PLAYBOOK);
  }

  #check(now: number): void {
    const ends: (KeyEnd & { key: string })[] = [];
    for (const batch of [...this.sent.values()]) {
      const { session } = batch;
      if (session.deletedAt === null && session.waiting) batch.waitedUntil = now;
      const facts = session.deletedAt === null ? { ...session, fault: null } : null;
      const verdict = judgeSession(batch, facts, now, this.options.batcher_pending_timeout);
      if (verdict === 'follow') continue;
      if (verdict === 'overdue') session.deletedAt = now;
      for (const write of this.#writesOf(batch, verdict)) {
        this.onWrite(write);
        this.report(write.id, write.entries, write.errors);
      }
      const end = { batch: batch.id, success: verdict === 'succeeded', desired: batch.desired, key: batch.key };
      this.onEnd(end, verdict, session);
      ends.push(end);
      this.sent.delete(batch.id);
      for (const host of batch.hosts) this.batchOf.delete(host);
    }
    const cap = this.options.batcher_max_backoff;
    this.backOff = afterEnds(this.backOff, ends, now, cap);
    for (const [key, ofKey] of Map.groupBy(ends, (end) => end.key)) {
      const configuration = key.slice(0, key.indexOf(':'));
      const state = seenKey(this.keys.get(key), this.#desiredOf(configuration), now);
      this.keys.set(key, afterKeyEnds(state, ofKey, now, cap));
    }
  }

  #writesOf(batch: SentBatch, verdict: SessionVerdict): MemberWrite[] {
    if (verdict !== 'succeeded' && verdict !== 'failed') return [];
    const members = batch.hosts.flatMap((id) => {
      const component = this.components.get(id);
      return component === undefined ? [] : [this.#memberNow(component, batch)];
    });
    const session = { name: batch.session.name, layers: batch.layers, results: batch.session.results };
    if (verdict === 'failed') return afterFailure(members, session);
    return members.flatMap((member) => afterSuccess(member, session) ?? []);
  }

  #memberNow(component: Component, batch: SentBatch): MemberNow {
    const { status, layers } = this.statusOf(component);
    return {
      id: component.id,
      status,
      layers: (this.layersOf(component) ?? []).map((layer, index) => ({
        ...layer,
        status: layers[index] ?? 'unconfigured',
      })),
      last: component.state.at(-1) ?? null,
      desiredChanged: this.#desiredOf(component.desired_config) !== batch.desired,
      rebooted: false,
      absent: false,
    };
  }

  #membersOf(batch: UnsentBatch): string[] {
    return [...this.batchOf].filter(([, id]) => id === batch.id).map(([id]) => id);
  }

  /** The members that a batch still holds; the others are released. */
  #revalidated(batch: UnsentBatch): string[] {
    const members = this.#membersOf(batch);
    const facts = members.flatMap((id) => {
      const component = this.components.get(id);
      return component === undefined
        ? []
        : [{ id, enabled: component.enabled, key: this.keyOf(component), leased: false }];
    });
    const kept = revalidate(batch.key, facts);
    for (const id of members) if (!kept.includes(id)) this.batchOf.delete(id);
    return kept.sort();
  }

  #revise(): void {
    for (const batch of [...this.unsent.values()]) {
      batch.members = this.#revalidated(batch).length;
      if (batch.members === 0) this.unsent.delete(batch.id);
    }
    for (const { batch, keep } of trimBatches([...this.unsent.values()], this.#limitsOf)) {
      const held = this.unsent.get(batch);
      if (held === undefined) continue;
      for (const id of this.#membersOf(held).sort().slice(keep)) this.batchOf.delete(id);
      held.members = keep;
      if (keep === 0) this.unsent.delete(batch);
    }
  }

  readonly #limitsOf = (configuration: string) =>
    this.#gates.get(configuration) ?? { size: this.options.batch_size, most: null };

  #collect(now: number): void {
    const candidates = [...this.components.values()].flatMap((component): Candidate[] => {
      if (!component.enabled || this.batchOf.has(component.id)) return [];
      const key = this.keyOf(component);
      if (key === null) return [];
      const layers = pendingLayers(this.statusOf(component).layers);
      return [{ id: component.id, configuration: component.desired_config, layers, key }];
    });
    candidates.sort((a, b) => (a.id < b.id ? -1 : 1));
    const join = joinBatches([...this.unsent.values()], {
      now,
      limitsOf: this.#limitsOf,
      newId: () => `b${String(++this.#ids).padStart(9, '0')}`,
    });
    for (let at = 0; at < candidates.length; at += PAGE) {
      const { opened, joined } = join(candidates.slice(at, at + PAGE));
      for (const batch of opened) this.unsent.set(batch.id, { ...batch, members: 0 });
      for (const { component, batch } of joined) {
        this.batchOf.set(component, batch);
        const target = this.unsent.get(batch);
        if (target !== undefined) target.members += 1;
      }
    }
    for (const batch of this.unsent.values()) {
      this.keys.set(batch.key, seenKey(this.keys.get(batch.key), this.#desiredOf(batch.configuration), now));
    }
  }

  #send(now: number): void {
    this.plan = planSends(
      [...this.unsent.values()].map((batch) => ({ ...batch, leased: 0 })),
      {
        now,
        disabled: this.options.batcher_disable,
        paused: false,
        window: this.options.batch_window,
        sizeOf: (configuration) => this.#gates.get(configuration)?.size ?? this.options.batch_size,
        waiting: [...this.sent.values()].filter(({ session }) => session.waiting).length,
        out: new Set(this.sent.keys()),
        backOff: this.backOff,
        keys: new Map([...this.keys].map(([key, state]) => [key, { ...state, paused: false }])),
        holds: new Map(),
        rollouts: new Map([...this.#gates].map(([configuration, { room }]) => [configuration, room])),
      },
    );
    for (const send of this.plan.sends) {
      const batch = this.unsent.get(send.batch);
      if (batch === undefined) continue;
      const hosts = this.#revalidated(batch);
      const session = this.#sessionOf(batch, hosts, now);
      this.onSend(session, batch, now);
      this.sessions.push(session);
      this.unsent.delete(batch.id);
      const desired = this.#desiredOf(batch.configuration);
      this.sent.set(batch.id, { ...batch, desired, hosts, sentAt: now, waitedUntil: null, session });
      if (send.probe) this.backOff = { ...this.backOff, probe: batch.id };
      const key = this.keys.get(batch.key);
      if (send.keyProbe && key !== undefined) this.keys.set(batch.key, { ...key, probe: batch.id });
    }
  }

  #sessionOf(batch: UnsentBatch, hosts: string[], now: number): SimulatedSession {
    return {
      name: `batcher-${this.sessions.length}`,
      createdAt: now,
      configuration: batch.configuration,
      limit: batch.layers,
      hosts,
      tags: commonTags(hosts.map((id) => this.components.get(id)?.tags ?? {})),
      status: 'pending',
      succeeded: 'none',
      waiting: false,
      deletedAt: null,
      results: new Map(),
    };
  }
}
