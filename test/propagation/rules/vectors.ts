/**
 * Worked plans. Each row of `runs` gives outcomes (others are `changed`), the status of each node after the run, and the result of the
 * plan. Build, simulation and execution are all held against them.
 */
import type { Outcome } from '../../../domain/propagation/event-schema.ts';
import type { NodeStatus, Origin, PlanCycle, PlanResult } from '../../../domain/propagation/plan-schema.ts';

export interface VectorRun {
  outcomes: Record<string, Outcome>;
  statuses: Record<string, NodeStatus>;
  result: PlanResult;
}

export interface PlanVector {
  name: string;
  staged: string[];
  events: string;
  /** Actions that may not be repeated. */
  fixed?: string[];
  /** Ids by origin, sorted. */
  nodes: Partial<Record<Origin, string[]>>;
  /** `from -> to (after|on condition)`, or `(then)` for two occurrences; absent where there are too many to write down. */
  edges?: string[];
  cycles?: PlanCycle[];
  /** Text of the event and the reason. */
  suppressed?: [string, string][];
  order: string[];
  runs: VectorRun[];
}

export const PLAIN_VECTORS: PlanVector[] = [
  {
    name: 'chain of reactions (three `changed` hops)',
    staged: ['mariadb.run'],
    events: `
      on mariadb.run changed keystone.run
      on keystone.run changed keystone_config.run
      on keystone_config.run changed haproxy.reload
    `,
    nodes: { staged: ['mariadb.run'], reaction: ['haproxy.reload', 'keystone.run', 'keystone_config.run'] },
    edges: [
      'keystone.run -> keystone_config.run (on changed)',
      'keystone_config.run -> haproxy.reload (on changed)',
      'mariadb.run -> keystone.run (on changed)',
    ],
    order: ['mariadb.run', 'keystone.run', 'keystone_config.run', 'haproxy.reload'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'haproxy.reload': 'success',
          'keystone.run': 'success',
          'keystone_config.run': 'success',
          'mariadb.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'keystone.run': 'ok' },
        statuses: {
          'haproxy.reload': 'noop',
          'keystone.run': 'success',
          'keystone_config.run': 'noop',
          'mariadb.run': 'success',
        },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'message-queue cluster ordering (no cycle at action level)',
    staged: ['rmq.1.run', 'rmq.2.run', 'rmq.3.run'],
    events: `
      on rmq.1.run changed rmq.1.cluster_create
      on rmq.1.cluster_create changed rmq.2.cluster_join
      on rmq.1.cluster_create changed rmq.3.cluster_join
      on rmq.2.run changed rmq.2.cluster_join
      on rmq.3.run changed rmq.3.cluster_join
    `,
    nodes: {
      staged: ['rmq.1.run', 'rmq.2.run', 'rmq.3.run'],
      reaction: ['rmq.1.cluster_create', 'rmq.2.cluster_join', 'rmq.3.cluster_join'],
    },
    edges: [
      'rmq.1.cluster_create -> rmq.2.cluster_join (on changed)',
      'rmq.1.cluster_create -> rmq.3.cluster_join (on changed)',
      'rmq.1.run -> rmq.1.cluster_create (on changed)',
      'rmq.2.run -> rmq.2.cluster_join (on changed)',
      'rmq.3.run -> rmq.3.cluster_join (on changed)',
    ],
    order: ['rmq.1.run', 'rmq.1.cluster_create', 'rmq.2.run', 'rmq.3.run', 'rmq.2.cluster_join', 'rmq.3.cluster_join'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'rmq.1.cluster_create': 'success',
          'rmq.1.run': 'success',
          'rmq.2.cluster_join': 'success',
          'rmq.2.run': 'success',
          'rmq.3.cluster_join': 'success',
          'rmq.3.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'rmq.3.run': 'failed' },
        statuses: {
          'rmq.1.cluster_create': 'success',
          'rmq.1.run': 'success',
          'rmq.2.cluster_join': 'success',
          'rmq.2.run': 'success',
          'rmq.3.cluster_join': 'blocked',
          'rmq.3.run': 'error',
        },
        result: 'failed',
      },
    ],
  },
  {
    name: 'failing node with an error subscriber',
    staged: ['db.run', 'app.run'],
    events: `
      after db.run success app.run
      on db.run failure db.rollback
      on app.run changed lb.reload
    `,
    nodes: { staged: ['app.run', 'db.run'], reaction: ['db.rollback', 'lb.reload'] },
    edges: [
      'app.run -> lb.reload (on changed)',
      'db.run -> app.run (after success)',
      'db.run -> db.rollback (on failure)',
    ],
    order: ['db.run', 'app.run', 'db.rollback', 'lb.reload'],
    runs: [
      {
        outcomes: {},
        statuses: { 'app.run': 'success', 'db.rollback': 'noop', 'db.run': 'success', 'lb.reload': 'success' },
        result: 'succeeded',
      },
      {
        outcomes: { 'db.run': 'failed' },
        statuses: { 'app.run': 'blocked', 'db.rollback': 'success', 'db.run': 'error', 'lb.reload': 'blocked' },
        result: 'failed',
      },
      {
        outcomes: { 'db.run': 'error' },
        statuses: { 'app.run': 'blocked', 'db.rollback': 'success', 'db.run': 'error', 'lb.reload': 'blocked' },
        result: 'failed',
      },
    ],
  },
  {
    name: 'a dependency never pulls a node in',
    staged: ['web.run'],
    events: `
      after web.run success cache.run
      on web.run changed lb.reload
      after lb.reload success cache.run
    `,
    nodes: { staged: ['web.run'], reaction: ['lb.reload'] },
    edges: ['web.run -> lb.reload (on changed)'],
    order: ['web.run', 'lb.reload'],
    runs: [{ outcomes: {}, statuses: { 'lb.reload': 'success', 'web.run': 'success' }, result: 'succeeded' }],
  },
  {
    name: 'dependency found late: the node it points at is created by a later reaction',
    staged: ['e1.run'],
    events: `
      after e1.run success e2.run
      on e1.run success e2.start
      on e2.start success e2.run
    `,
    nodes: { staged: ['e1.run'], reaction: ['e2.run', 'e2.start'] },
    edges: ['e1.run -> e2.run (after success)', 'e1.run -> e2.start (on success)', 'e2.start -> e2.run (on success)'],
    order: ['e1.run', 'e2.start', 'e2.run'],
    runs: [
      {
        outcomes: {},
        statuses: { 'e1.run': 'success', 'e2.run': 'success', 'e2.start': 'success' },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'removal guard',
    staged: ['a.remove', 'b.remove', 'c.update'],
    events: `
      after b.remove success a.remove
      on a.remove changed b.run
      on a.remove changed c.run
    `,
    nodes: { staged: ['a.remove', 'b.remove', 'c.update'], reaction: ['c.run'] },
    edges: ['a.remove -> c.run (on changed)', 'b.remove -> a.remove (after success)'],
    suppressed: [['on a.remove changed b.run', 'child-removed']],
    order: ['b.remove', 'a.remove', 'c.run', 'c.update'],
    runs: [
      {
        outcomes: {},
        statuses: { 'a.remove': 'success', 'b.remove': 'success', 'c.run': 'success', 'c.update': 'success' },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'fan-in of reactions is an AND for failures, an OR for triggers',
    staged: ['p.run', 'q.run'],
    events: `
      on p.run changed r.reload
      on q.run changed r.reload
    `,
    nodes: { staged: ['p.run', 'q.run'], reaction: ['r.reload'] },
    edges: ['p.run -> r.reload (on changed)', 'q.run -> r.reload (on changed)'],
    order: ['p.run', 'q.run', 'r.reload'],
    runs: [
      {
        outcomes: { 'p.run': 'ok' },
        statuses: { 'p.run': 'success', 'q.run': 'success', 'r.reload': 'success' },
        result: 'succeeded',
      },
      {
        outcomes: { 'p.run': 'ok', 'q.run': 'ok' },
        statuses: { 'p.run': 'success', 'q.run': 'success', 'r.reload': 'noop' },
        result: 'succeeded',
      },
      {
        outcomes: { 'p.run': 'failed' },
        statuses: { 'p.run': 'error', 'q.run': 'success', 'r.reload': 'blocked' },
        result: 'failed',
      },
    ],
  },
  {
    name: 'resource-level emitter',
    staged: ['sink.update'],
    events: `
      on sink.* changed m1.cluster_create
      on m1.cluster_create changed m2.cluster_join
    `,
    nodes: { staged: ['sink.update'], reaction: ['m1.cluster_create', 'm2.cluster_join'] },
    edges: ['m1.cluster_create -> m2.cluster_join (on changed)', 'sink.update -> m1.cluster_create (on changed)'],
    order: ['sink.update', 'm1.cluster_create', 'm2.cluster_join'],
    runs: [
      {
        outcomes: {},
        statuses: { 'm1.cluster_create': 'success', 'm2.cluster_join': 'success', 'sink.update': 'success' },
        result: 'succeeded',
      },
      {
        outcomes: { 'sink.update': 'ok' },
        statuses: { 'm1.cluster_create': 'noop', 'm2.cluster_join': 'noop', 'sink.update': 'success' },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'removals are never repeated',
    staged: ['a.remove', 'b.remove', 'c.remove'],
    events: `
      after a.remove success b.remove
      after b.remove success c.remove
      after c.remove success a.remove
    `,
    nodes: { staged: ['a.remove', 'b.remove', 'c.remove'] },
    edges: ['a.remove -> b.remove (after success)', 'b.remove -> c.remove (after success)'],
    cycles: [
      {
        members: ['a.remove', 'b.remove', 'c.remove'],
        head: 'a.remove',
        repeated: [],
        closed_by: [['c.remove', 'a.remove']],
      },
    ],
    suppressed: [['after c.remove success a.remove', 'remove-cycle']],
    order: ['a.remove', 'b.remove', 'c.remove'],
    runs: [
      {
        outcomes: {},
        statuses: { 'a.remove': 'success', 'b.remove': 'success', 'c.remove': 'success' },
        result: 'succeeded',
      },
    ],
  },
];
