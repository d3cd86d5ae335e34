/** What people read of a plan: why a node is there, graphs, reports. */
import { describe, expect, test } from '@jest/globals';
import { graphView } from '../../../domain/propagation/graph-text.ts';
import { ExplanationSchema, NODE_STATUSES } from '../../../domain/propagation/plan-schema.ts';
import { percent, summary, totals } from '../../../domain/propagation/report.ts';
import { nodeLine, reportText, summaryLine } from '../../../domain/propagation/report-text.ts';
import { simulation } from '../../../domain/propagation/simulate.ts';
import {
  explainSimulated,
  explanationText,
  simulationGraph,
  simulationText,
} from '../../../domain/propagation/simulation-text.ts';
import { LOOP_VECTORS } from './loop-vectors.ts';
import { PLAIN_VECTORS } from './vectors.ts';

const REPAIR = {
  staged: ['n2.run'],
  events: [
    'on n2.run success n2.join',
    'on n2.join failure n2.leave',
    'on n2.leave success n2.join',
    'on n2.join success n1.commit',
  ],
};

describe('an explanation', () => {
  test('leads from a staged action to the node, and shows each event into it', () => {
    const explained = explainSimulated(simulation({ ...REPAIR, outcomes: { 'n2.join#0': 'failed' } }), 'n1.commit');
    expect(explained).toEqual({
      node: 'n1.commit',
      origin: 'reaction',
      chain: [
        { from: 'n2.run', event: 'on n2.run success n2.join', to: 'n2.join#0' },
        { from: 'n2.join#0', event: 'on n2.join success n1.commit', to: 'n1.commit' },
      ],
      incoming: [
        { from: ['n2.join#0', 'n2.join#1'], type: 'react_on', on: 'success', aggregate: 'changed', verdict: 'fire' },
      ],
      decision: { status: 'success', triggered_by: [{ node: 'n2.join#1', outcome: 'changed' }], blocked_by: [] },
    });
  });

  test('of a second run ends with the event that led back', () => {
    const { chain, origin } = explainSimulated(simulation(REPAIR), 'n2.join#1');
    expect([origin, chain?.map(({ from, to }) => `${from} > ${to}`)]).toEqual([
      'repeat',
      ['n2.run > n2.join#0', 'n2.join#0 > n2.leave', 'n2.leave > n2.join#1'],
    ]);
  });

  test('of a node that was not triggered, or is blocked, says by what', () => {
    const failed = simulation({ ...REPAIR, outcomes: { 'n2.join': 'failed' } });
    expect(explainSimulated(failed, 'n1.commit').decision).toEqual({
      status: 'blocked',
      triggered_by: [],
      blocked_by: ['n2.join#1'],
    });
    expect(explainSimulated(simulation(REPAIR), 'n2.leave').decision).toMatchObject({
      status: 'noop',
      reason: 'not-triggered',
    });
  });

  test('of a staged node has no way; x#0 names a node that is not repeated', () => {
    expect(explainSimulated(simulation(REPAIR), 'n2.run#0')).toMatchObject({
      node: 'n2.run',
      origin: 'staged',
      chain: [],
    });
  });

  test('takes the shortest way, of equally short ones the first by name', () => {
    const events = [
      'on s.run ok b.run',
      'on s.run ok a.run',
      'on b.run ok x.run',
      'on a.run ok x.run',
      'on t.run ok c.run',
    ];
    const longer = ['on c.run ok d.run', 'on d.run ok x.run', 'on x.run ok a.run'];
    const { chain } = explainSimulated(
      simulation({ staged: ['s.run', 't.run'], events: [...events, ...longer] }),
      'x.run#0',
    );
    expect(chain?.map(({ from }) => from.replace(/#0$/, ''))).toEqual(['s.run', 'a.run']);
  });

  test('finds the way over an event that was dropped for a removal, and over a dependency that stands before it', () => {
    const events = ['on h.run any x.run', 'on h.run any y.run', 'after x.run any a.remove', 'after a.remove any y.run'];
    const back = ['on y.run any a.remove', 'after y.run any x.run'];
    const simulated = simulation({ staged: ['h.run'], events: [...events, ...back] });
    expect(simulated.plan.suppressed).toMatchObject([{ parent: 'y.run', child: 'a.remove', reason: 'remove-cycle' }]);
    expect(explainSimulated(simulated, 'a.remove').chain?.map(({ to }) => to)).toEqual(['y.run', 'a.remove']);
  });

  test('gives up on a way that is too long', () => {
    const events = Array.from({ length: 10_002 }, (_, index) => `on r${index}.run ok r${index + 1}.run`);
    expect(explainSimulated(simulation({ staged: ['r0.run'], events }), 'r10002.run').chain).toBeNull();
    expect(explainSimulated(simulation({ staged: ['r0.run'], events }), 'r9999.run').chain).toHaveLength(9_999);
  });

  test('is there for every node of every worked plan', () => {
    for (const { staged, events } of [...PLAIN_VECTORS, ...LOOP_VECTORS]) {
      const simulated = simulation({ staged, events });
      for (const { id, origin } of simulated.plan.nodes) {
        const explained = explainSimulated(simulated, id);
        expect(ExplanationSchema.parse(explained)).toEqual(explained);
        expect(explained.chain?.length === 0).toBe(origin === 'staged');
        expect(explanationText(explained)).toContain(`${id}: ${origin}`);
      }
    }
  });

  test.each([
    ['x.run', 'the plan has no node x.run'],
    ['n2.join', 'the plan has no node n2.join: write n2.join#0 or n2.join#1'],
  ])('of %s is refused', (node, message) => {
    expect(() => explainSimulated(simulation(REPAIR), node)).toThrow(
      expect.objectContaining({ code: 'node_not_found', message }),
    );
  });
});

describe('a graph', () => {
  const simulated = simulation({ ...REPAIR, outcomes: { 'n2.join#0': 'failed' } });

  test('is a tree with statuses, conditions and what closed the loop', () => {
    expect(simulationGraph(simulated, 'tree')).toBe(
      [
        'n2.run [success]',
        '`- on success: n2.join#0 [error]',
        '   |- on failure: n2.leave [success]',
        '   |  `- on success, closes the loop: n2.join#1 [success]',
        '   |     `- on success: n1.commit [success]',
        '   |- then: n2.join#1 [success] (above)',
        '   `- on success: n1.commit [success] (above)',
        '',
      ].join('\n'),
    );
  });

  test('is DOT with the same', () => {
    const dot = simulationGraph(simulated, 'dot');
    expect(dot).toMatch(/^digraph plan \{\n/);
    expect(dot).toContain('"n2.join#0" [label="n2.join#0\\nerror", color="red"];');
    expect(dot).toContain(
      '"n2.leave" -> "n2.join#1" [label="on success\\ncloses the loop", style=solid, color="red", penwidth=2];',
    );
    expect(dot).toContain('"n2.join#0" -> "n2.join#1" [label="then", style=dotted];');
  });

  test('is cut around a node', () => {
    expect(simulationGraph(simulated, 'tree', { around: 'n2.run', depth: 1 })).toBe(
      'n2.run [success]\n`- on success: n2.join#0 [error]\n',
    );
    expect(simulationGraph(simulated, 'tree', { around: 'n2.join', depth: 0 })).toContain('then: n2.join#1');
    expect(simulationGraph(simulated, 'tree', { around: 'n2.leave#0', depth: 0 })).toBe('n2.leave [success]\n');
    expect(() => simulationGraph(simulated, 'tree', { around: 'x.run', depth: 1 })).toThrow(
      expect.objectContaining({ code: 'node_not_found' }),
    );
  });

  test('of more than 500 nodes is refused unless it is cut', () => {
    const star = simulation({
      staged: ['s.run'],
      events: Array.from({ length: 500 }, (_, index) => `on s.run ok r${index}.run`),
    });
    expect(() => simulationGraph(star, 'dot')).toThrow(expect.objectContaining({ code: 'graph_too_large' }));
    expect(() => simulationGraph(star, 'dot', { around: 's.run', depth: 1 })).toThrow('smaller depth');
    expect(simulationGraph(star, 'tree', { around: 'r7.run', depth: 1 }).split('\n')).toHaveLength(3);
    expect(graphView({ nodes: star.plan.nodes.slice(0, 500), edges: [], cycles: [], statuses: {} }).nodes).toHaveLength(
      500,
    );
  });
});

describe('a report', () => {
  const times = [
    [1, 12],
    [1, 3],
    [3, 7],
    [7, 13],
    [12, 14],
  ].map(([start, end]) => ({ start, end }));

  test('has the time from first to last, and the sum of all', () => {
    expect(totals(times)).toEqual({ total_time: 13, total_delta: 25 });
    expect(totals([...times, { start: 0, end: null }, { end: 99 }])).toEqual({ total_time: 13, total_delta: 25 });
    expect(totals([])).toEqual({ total_time: 0, total_delta: 0 });
  });

  test('counts all statuses, and how much is over', () => {
    const counts = summary(['success', 'noop', 'pending', 'error_retry', 'success', 'in_progress']);
    expect(Object.keys(counts).sort()).toEqual([...NODE_STATUSES].sort());
    expect(counts).toMatchObject({ success: 2, noop: 1, pending: 1, blocked: 0 });
    expect(percent(counts)).toBe(50);
    expect(summary({ a: 'success', b: 'blocked' })).toMatchObject({ success: 1, blocked: 1 });
    expect(summaryLine(counts)).toBe('PENDING: 1 INPROGRESS: 1 ERROR_RETRY: 1 SUCCESS: 2 NOOP: 1');
    expect(percent(summary([...Array.from({ length: 299 }, () => 'success' as const), 'pending']))).toBe(99);
    expect(percent(summary([]))).toBe(100);
  });

  test('is a line for each node, then the times', () => {
    const lines = [
      { node: 'a.run', status: 'success' as const },
      { node: 'b.run', status: 'in_progress' as const, message: '' },
      { node: 'c.run', status: 'error' as const, message: 'Cancelled' },
    ];
    expect(reportText(lines, totals(times))).toBe(
      'a.run -> SUCCESS\nb.run -> INPROGRESS\nc.run -> ERROR :: Cancelled\nTotal Delta: 25\nTotal Time: 13\n',
    );
    expect(reportText([], totals([]))).toBe('Nothing to report\n');
    expect(nodeLine({ node: 'a.run', status: 'error_retry' })).toBe('a.run -> ERROR_RETRY');
  });

  test('of a simulation tells loops, suppressed events and what did not settle', () => {
    const text = simulationText(
      simulation({
        staged: ['a.run', 'b.remove'],
        events: 'on a.run changed a.run\non a.run changed b.run\non a.run ok c.run',
      }),
    );
    expect(text.split('\n')).toEqual([
      ...[
        'a.run#0 -> SUCCESS',
        'a.run#1 -> SUCCESS',
        'b.remove -> SUCCESS',
        'c.run -> NOOP :: not-triggered',
        '',
        'Rounds:',
      ],
      ...['  1: a.run#0, b.remove', '  2: a.run#1', '', 'Loops:'],
      '  a.run goes first: nothing else starts the loop; run twice: a.run',
      ...['    way round: a.run -> a.run', '    closed by: a.run -> a.run', '', 'Suppressed:'],
      ...['  on a.run changed b.run (child-removed)', '', 'Result: succeeded (SUCCESS: 3 NOOP: 1)'],
      ...['Still changed something in the second run: a.run#1', ''],
    ]);
    expect(simulationText(simulation({ staged: [], events: '' }))).toBe('Nothing to report\n');
  });

  test('of a simulation says by what a node is blocked, and how often it was tried', () => {
    const input = { staged: ['a.run', 'b.run'], events: 'after a.run ok b.run', actions: { 'a.run': { retry: 1 } } };
    const text = simulationText(simulation({ ...input, outcomes: { 'a.run': 'error' } }));
    expect(text).toContain('a.run -> ERROR :: error, 2 attempts\nb.run -> BLOCKED :: by a.run\n');
  });
});
