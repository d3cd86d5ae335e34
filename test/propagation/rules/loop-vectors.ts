/** Worked plans whose loops repeat an action. */
import { defaultEvents } from '../../../domain/propagation/default-events.ts';
import { renderEvent } from '../../../domain/propagation/event-text.ts';
import type { PlanVector } from './vectors.ts';

/** The members of a loop that no head resolves. */
export const REFUSED = {
  staged: ['a.provision', 'b.format'],
  events: 'after a.provision success b.format\nafter b.format success a.provision',
  fixed: ['a.provision', 'b.format'],
  members: ['a.provision', 'b.format'],
};

/** The events that a connection makes where the receiver cannot reload. */
const connected = (emitter: string, receiver: string): string[] =>
  defaultEvents({ emitter, receiver, policy: 'full', actions: ['run', 'update', 'remove'] }).map(renderEvent);

export const LOOP_VECTORS: PlanVector[] = [
  {
    name: 'the load balancer cycle',
    staged: ['k.run', 'kc.run', 'ha.run', 'g.run', 'gc.run'],
    events: `
      after k.run success kc.run
      after kc.run success ha.run
      after g.run success gc.run
      after gc.run success ha.run
      after ha.run success gc.run
    `,
    nodes: { staged: ['g.run', 'gc.run', 'ha.run#0', 'k.run', 'kc.run'], repeat: ['ha.run#1'] },
    edges: [
      'g.run -> gc.run (after success)',
      'gc.run -> ha.run#1 (after success)',
      'ha.run#0 -> gc.run (after success)',
      'ha.run#0 -> ha.run#1 (then)',
      'k.run -> kc.run (after success)',
      'kc.run -> ha.run#0 (after success)',
    ],
    cycles: [
      { members: ['gc.run', 'ha.run'], head: 'ha.run', repeated: ['ha.run'], closed_by: [['gc.run', 'ha.run']] },
    ],
    order: ['k.run', 'kc.run', 'ha.run#0', 'g.run', 'gc.run', 'ha.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'g.run': 'success',
          'gc.run': 'success',
          'ha.run#0': 'success',
          'ha.run#1': 'success',
          'k.run': 'success',
          'kc.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'gc.run': 'failed' },
        statuses: {
          'g.run': 'success',
          'gc.run': 'error',
          'ha.run#0': 'success',
          'ha.run#1': 'blocked',
          'k.run': 'success',
          'kc.run': 'success',
        },
        result: 'failed',
      },
    ],
  },
  {
    name: 'self-loop',
    staged: ['a.run'],
    events: `
      on a.run changed a.run
    `,
    nodes: { staged: ['a.run#0'], repeat: ['a.run#1'] },
    edges: ['a.run#0 -> a.run#1 (on changed)', 'a.run#0 -> a.run#1 (then)'],
    cycles: [{ members: ['a.run'], head: 'a.run', repeated: ['a.run'], closed_by: [['a.run', 'a.run']] }],
    order: ['a.run#0', 'a.run#1'],
    runs: [
      { outcomes: {}, statuses: { 'a.run#0': 'success', 'a.run#1': 'success' }, result: 'succeeded' },
      { outcomes: { 'a.run': 'ok' }, statuses: { 'a.run#0': 'success', 'a.run#1': 'noop' }, result: 'succeeded' },
    ],
  },
  {
    name: 'two-node cycle with an outside consumer',
    staged: ['a.run'],
    events: `
      on a.run changed b.run
      on b.run changed a.run
      on a.run changed x.run
    `,
    nodes: { staged: ['a.run#0'], reaction: ['b.run', 'x.run'], repeat: ['a.run#1'] },
    edges: [
      'a.run#0 -> a.run#1 (then)',
      'a.run#0 -> b.run (on changed)',
      'a.run#0 -> x.run (on changed)',
      'a.run#1 -> x.run (on changed)',
      'b.run -> a.run#1 (on changed)',
    ],
    cycles: [{ members: ['a.run', 'b.run'], head: 'a.run', repeated: ['a.run'], closed_by: [['b.run', 'a.run']] }],
    order: ['a.run#0', 'b.run', 'a.run#1', 'x.run'],
    runs: [
      {
        outcomes: {},
        statuses: { 'a.run#0': 'success', 'a.run#1': 'success', 'b.run': 'success', 'x.run': 'success' },
        result: 'succeeded',
      },
      {
        outcomes: { 'b.run': 'ok' },
        statuses: { 'a.run#0': 'success', 'a.run#1': 'noop', 'b.run': 'success', 'x.run': 'success' },
        result: 'succeeded',
      },
      {
        outcomes: { 'b.run': 'failed' },
        statuses: { 'a.run#0': 'success', 'a.run#1': 'blocked', 'b.run': 'error', 'x.run': 'blocked' },
        result: 'failed',
      },
    ],
  },
  {
    name: 'two interleaved cycles sharing b',
    staged: ['a.run'],
    events: `
      on a.run changed b.run
      on b.run changed a.run
      on b.run changed c.run
      on c.run changed b.run
    `,
    nodes: { staged: ['a.run#0'], reaction: ['b.run#0', 'c.run'], repeat: ['a.run#1', 'b.run#1'] },
    edges: [
      'a.run#0 -> a.run#1 (then)',
      'a.run#0 -> b.run#0 (on changed)',
      'b.run#0 -> a.run#1 (on changed)',
      'b.run#0 -> b.run#1 (then)',
      'b.run#0 -> c.run (on changed)',
      'b.run#1 -> a.run#1 (on changed)',
      'c.run -> b.run#1 (on changed)',
    ],
    cycles: [
      {
        members: ['a.run', 'b.run', 'c.run'],
        head: 'a.run',
        repeated: ['a.run', 'b.run'],
        closed_by: [
          ['b.run', 'a.run'],
          ['c.run', 'b.run'],
        ],
      },
    ],
    order: ['a.run#0', 'b.run#0', 'c.run', 'b.run#1', 'a.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'a.run#0': 'success',
          'a.run#1': 'success',
          'b.run#0': 'success',
          'b.run#1': 'success',
          'c.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'c.run': 'ok' },
        statuses: {
          'a.run#0': 'success',
          'a.run#1': 'success',
          'b.run#0': 'success',
          'b.run#1': 'noop',
          'c.run': 'success',
        },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'diamond that closes into a cycle, entered from outside',
    staged: ['src.run'],
    events: `
      on src.run changed top.run
      on top.run changed left.run
      on top.run changed right.run
      on left.run changed bottom.run
      on right.run changed bottom.run
      on bottom.run changed top.run
    `,
    nodes: {
      staged: ['src.run'],
      reaction: ['bottom.run', 'left.run', 'right.run', 'top.run#0'],
      repeat: ['top.run#1'],
    },
    edges: [
      'bottom.run -> top.run#1 (on changed)',
      'left.run -> bottom.run (on changed)',
      'right.run -> bottom.run (on changed)',
      'src.run -> top.run#0 (on changed)',
      'top.run#0 -> left.run (on changed)',
      'top.run#0 -> right.run (on changed)',
      'top.run#0 -> top.run#1 (then)',
    ],
    cycles: [
      {
        members: ['bottom.run', 'left.run', 'right.run', 'top.run'],
        head: 'top.run',
        repeated: ['top.run'],
        closed_by: [['bottom.run', 'top.run']],
      },
    ],
    order: ['src.run', 'top.run#0', 'left.run', 'right.run', 'bottom.run', 'top.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'bottom.run': 'success',
          'left.run': 'success',
          'right.run': 'success',
          'src.run': 'success',
          'top.run#0': 'success',
          'top.run#1': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'right.run': 'ok' },
        statuses: {
          'bottom.run': 'success',
          'left.run': 'success',
          'right.run': 'success',
          'src.run': 'success',
          'top.run#0': 'success',
          'top.run#1': 'success',
        },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'self-repair loop: join, leave on failure, join again',
    staged: ['n2.run'],
    events: `
      on n2.run success n2.join
      on n2.join failure n2.leave
      on n2.leave success n2.join
      on n2.join success n1.commit
    `,
    nodes: { staged: ['n2.run'], reaction: ['n1.commit', 'n2.join#0', 'n2.leave'], repeat: ['n2.join#1'] },
    edges: [
      'n2.join#0 -> n1.commit (on success)',
      'n2.join#0 -> n2.join#1 (then)',
      'n2.join#0 -> n2.leave (on failure)',
      'n2.join#1 -> n1.commit (on success)',
      'n2.leave -> n2.join#1 (on success)',
      'n2.run -> n2.join#0 (on success)',
    ],
    cycles: [
      {
        members: ['n2.join', 'n2.leave'],
        head: 'n2.join',
        repeated: ['n2.join'],
        closed_by: [['n2.leave', 'n2.join']],
      },
    ],
    order: ['n2.run', 'n2.join#0', 'n2.leave', 'n2.join#1', 'n1.commit'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'n1.commit': 'success',
          'n2.join#0': 'success',
          'n2.join#1': 'noop',
          'n2.leave': 'noop',
          'n2.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'n2.join#0': 'failed' },
        statuses: {
          'n1.commit': 'success',
          'n2.join#0': 'error',
          'n2.join#1': 'success',
          'n2.leave': 'success',
          'n2.run': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'n2.join': 'failed' },
        statuses: {
          'n1.commit': 'blocked',
          'n2.join#0': 'error',
          'n2.join#1': 'error',
          'n2.leave': 'success',
          'n2.run': 'success',
        },
        result: 'failed',
      },
    ],
  },
  {
    name: 'an action that may not be repeated forces another head',
    staged: ['a.provision', 'b.run'],
    events: `
      after a.provision success b.run
      after b.run success a.provision
    `,
    fixed: ['a.provision'],
    nodes: { staged: ['a.provision', 'b.run#0'], repeat: ['b.run#1'] },
    edges: [
      'a.provision -> b.run#1 (after success)',
      'b.run#0 -> a.provision (after success)',
      'b.run#0 -> b.run#1 (then)',
    ],
    cycles: [
      { members: ['a.provision', 'b.run'], head: 'b.run', repeated: ['b.run'], closed_by: [['a.provision', 'b.run']] },
    ],
    order: ['b.run#0', 'a.provision', 'b.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: { 'a.provision': 'success', 'b.run#0': 'success', 'b.run#1': 'success' },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'hub and spokes: the hub is the head',
    staged: ['hub.run', 's1.run', 's2.run', 's3.run'],
    events: `
      after s1.run success hub.run
      after s2.run success hub.run
      after s3.run success hub.run
      after hub.run success s1.run
      after hub.run success s2.run
      after hub.run success s3.run
    `,
    nodes: { staged: ['hub.run#0', 's1.run', 's2.run', 's3.run'], repeat: ['hub.run#1'] },
    edges: [
      'hub.run#0 -> hub.run#1 (then)',
      'hub.run#0 -> s1.run (after success)',
      'hub.run#0 -> s2.run (after success)',
      'hub.run#0 -> s3.run (after success)',
      's1.run -> hub.run#1 (after success)',
      's2.run -> hub.run#1 (after success)',
      's3.run -> hub.run#1 (after success)',
    ],
    cycles: [
      {
        members: ['hub.run', 's1.run', 's2.run', 's3.run'],
        head: 'hub.run',
        repeated: ['hub.run'],
        closed_by: [
          ['s1.run', 'hub.run'],
          ['s2.run', 'hub.run'],
          ['s3.run', 'hub.run'],
        ],
      },
    ],
    order: ['hub.run#0', 's1.run', 's2.run', 's3.run', 'hub.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'hub.run#0': 'success',
          'hub.run#1': 'success',
          's1.run': 'success',
          's2.run': 'success',
          's3.run': 'success',
        },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'ring of three entered twice',
    staged: ['x.run', 'z.run'],
    events: `
      on x.run changed a.run
      on a.run changed b.run
      on b.run changed c.run
      on c.run changed a.run
      on y.run changed b.run
      on z.run changed y.run
    `,
    nodes: { staged: ['x.run', 'z.run'], reaction: ['a.run', 'b.run#0', 'c.run', 'y.run'], repeat: ['b.run#1'] },
    edges: [
      'a.run -> b.run#1 (on changed)',
      'b.run#0 -> b.run#1 (then)',
      'b.run#0 -> c.run (on changed)',
      'c.run -> a.run (on changed)',
      'x.run -> a.run (on changed)',
      'y.run -> b.run#0 (on changed)',
      'z.run -> y.run (on changed)',
    ],
    cycles: [
      { members: ['a.run', 'b.run', 'c.run'], head: 'b.run', repeated: ['b.run'], closed_by: [['a.run', 'b.run']] },
    ],
    order: ['z.run', 'y.run', 'b.run#0', 'c.run', 'x.run', 'a.run', 'b.run#1'],
    runs: [
      {
        outcomes: {},
        statuses: {
          'a.run': 'success',
          'b.run#0': 'success',
          'b.run#1': 'success',
          'c.run': 'success',
          'x.run': 'success',
          'y.run': 'success',
          'z.run': 'success',
        },
        result: 'succeeded',
      },
    ],
  },
  {
    name: 'data-plane cycle: three members and the shared sink, default events on all six connections',
    staged: ['rmq.1.run', 'rmq.2.run', 'rmq.3.run', 'rmq.cluster.run'],
    events: [
      'on rmq.cluster.* changed rmq.1.cluster_create',
      'on rmq.1.cluster_create changed rmq.2.cluster_join',
      'on rmq.1.cluster_create changed rmq.3.cluster_join',
      ...['rmq.1', 'rmq.2', 'rmq.3'].flatMap((member) => [
        ...connected(member, 'rmq.cluster'),
        ...connected('rmq.cluster', member),
      ]),
    ].join('\n'),
    nodes: {
      staged: ['rmq.1.run', 'rmq.2.run', 'rmq.3.run', 'rmq.cluster.run#0'],
      reaction: ['rmq.1.cluster_create', 'rmq.2.cluster_join', 'rmq.3.cluster_join'],
      repeat: ['rmq.cluster.run#1'],
    },
    cycles: [
      {
        members: ['rmq.1.run', 'rmq.2.run', 'rmq.3.run', 'rmq.cluster.run'],
        head: 'rmq.cluster.run',
        repeated: ['rmq.cluster.run'],
        closed_by: [
          ['rmq.1.run', 'rmq.cluster.run'],
          ['rmq.2.run', 'rmq.cluster.run'],
          ['rmq.3.run', 'rmq.cluster.run'],
        ],
      },
    ],
    order: [
      'rmq.cluster.run#0',
      'rmq.1.run',
      'rmq.2.run',
      'rmq.3.run',
      'rmq.cluster.run#1',
      'rmq.1.cluster_create',
      'rmq.2.cluster_join',
      'rmq.3.cluster_join',
    ],
    runs: [
      {
        outcomes: { 'rmq.cluster.run#1': 'ok' },
        statuses: {
          'rmq.1.cluster_create': 'success',
          'rmq.2.cluster_join': 'success',
          'rmq.3.cluster_join': 'success',
          'rmq.cluster.run#1': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'rmq.cluster.run': 'ok' },
        statuses: {
          'rmq.1.cluster_create': 'noop',
          'rmq.2.cluster_join': 'noop',
          'rmq.3.cluster_join': 'noop',
          'rmq.cluster.run#1': 'success',
        },
        result: 'succeeded',
      },
      {
        outcomes: { 'rmq.2.run': 'failed' },
        statuses: {
          'rmq.1.cluster_create': 'blocked',
          'rmq.2.cluster_join': 'blocked',
          'rmq.3.cluster_join': 'blocked',
          'rmq.cluster.run#1': 'blocked',
        },
        result: 'failed',
      },
    ],
  },
];
