/** The alert rules and the dashboard that are shipped: what they ask for is there, and Prometheus understands it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { ROOT } from '../support/source-tree.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}
interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}

/** What a metric can be asked for: the labels of its samples, each with the values that were seen. */
type Labels = Map<string, Set<string>>;

const strict = parser.configure({ strict: true });
const shipped = (name: string) => readFile(join(ROOT, 'deploy/chart/muster/monitoring', name), 'utf8');
/** Given to every sample by Prometheus. */
const OF_PROMETHEUS = ['job', 'instance', 'namespace'];

let api: TestApi;
let exported: Map<string, Labels>;
let rules: Rule[];
let panels: Panel[];
beforeAll(async () => {
  api = await createTestApi();
  await api.app.inject({ method: 'GET', url: '/metrics' });
  // Requests are counted from the first time that somebody asks.
  await api.app.inject({ method: 'GET', url: '/healthz' });
  exported = samplesOf((await api.app.inject({ method: 'GET', url: '/metrics' })).body);
  rules = parse(await shipped('alerts.yaml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
  panels = JSON.parse(await shipped('dashboard.json')).panels;
});
afterAll(() => api.close());

/** The samples of an exposition, and the names of those of which there are none yet. */
function samplesOf(text: string): Map<string, Labels> {
  const found = new Map<string, Labels>();
  for (const line of text.split('\n')) {
    const declared = /^# TYPE (\S+)/.exec(line)?.[1];
    const [, sample = declared, labels = ''] = /^([a-z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (sample === undefined) continue;
    const known: Labels = found.get(sample) ?? new Map();
    found.set(sample, known);
    for (const [, name = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.set(name, (known.get(name) ?? new Set()).add(value));
  }
  return found;
}

interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

/** What an expression selects. Throws a SyntaxError for an expression that Prometheus would refuse. */
function selectorsOf(expression: string): Selector[] {
  // A variable of Grafana stands where Prometheus has a length of time or a text.
  const text = expression.replaceAll('$__rate_interval', '5m');
  const found: Selector[] = [];
  strict.parse(text).iterate({
    enter: ({ name, from, to }) => {
      const part = text.slice(from, to);
      if (name === 'VectorSelector') found.push({ metric: /^[\w:]*/.exec(part)?.[0] ?? '', matchers: [] });
      const matcher = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(part);
      if (name === 'UnquotedLabelMatcher' && matcher !== null) {
        const [, label = '', operator = '', value = ''] = matcher;
        found.at(-1)?.matchers.push({ label, operator, value });
      }
    },
  });
  return found;
}

/** What is wrong with an expression, in words. */
function mistakesOf(expression: string): string[] {
  const selectors = selectorsOf(expression);
  if (selectors.length === 0) return [`${expression}: it asks for no metric`];
  return selectors.flatMap(({ metric, matchers }) => {
    const labels = exported.get(metric);
    if (labels === undefined) return [`${metric} is not exported`];
    return matchers.flatMap(({ label, operator, value }) => {
      if (OF_PROMETHEUS.includes(label)) return [];
      const values = labels.get(label);
      if (values === undefined) return [`${metric} has no label ${label}`];
      return operator === '=' && !values.has(value) ? [`${metric} has no ${label}="${value}"`] : [];
    });
  });
}

test('alerts ask for what is exported', () => {
  expect(rules.length).toBeGreaterThan(15);
  expect(rules.flatMap(({ alert, expr }) => mistakesOf(expr).map((mistake) => `${alert}: ${mistake}`))).toEqual([]);
});

test('panels ask for what is exported', () => {
  const asking = panels.filter(({ type }) => type !== 'row');
  expect(asking.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  const mistakes = asking.flatMap(({ title, targets = [] }) =>
    targets.flatMap(({ expr }) => mistakesOf(expr).map((mistake) => `${title}: ${mistake}`)),
  );
  expect(mistakes).toEqual([]);
});

test('each metric of the database is on the dashboard', () => {
  const shown = new Set(
    panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => selectorsOf(expr))).map(({ metric }) => metric),
  );
  const own = [...exported.keys()].filter((name) => name.startsWith('muster_') && !/_(sum|count|bucket)$/.test(name));
  const missing = own.filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
  // A number that says little on its own.
  expect(missing.sort()).toEqual(['muster_drift_oldest_check_seconds', 'muster_operators_live', 'muster_schedules']);
});

test('each alert has a severity, words of its own, and a line in the documents', async () => {
  const page = await readFile(join(ROOT, 'docs/observability.md'), 'utf8');
  const lines = [...page.matchAll(/^\| `(Muster\w+)` +\| (\S.*?) +\|$/gm)].map(([, name]) => name);
  expect(lines).toEqual(rules.map(({ alert }) => alert));
  expect(new Set(lines).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning|info)$/)]);
    expect(annotations).toEqual({ summary: expect.any(String), description: expect.any(String) });
  }
});

describe('what is wrong is found', () => {
  test.each([
    ['muster_nothing > 0', 'muster_nothing is not exported'],
    ['muster_rollouts{colour="red"}', 'muster_rollouts has no label colour'],
    ['muster_rollouts{state="odd"}', 'muster_rollouts has no state="odd"'],
  ])('%s', (expression, mistake) => expect(mistakesOf(expression)).toEqual([mistake]));

  test.each(['max by (muster_stopped', 'muster_stopped >', 'rate(muster_stopped[5x])'])('%s is no expression', (text) =>
    expect(() => selectorsOf(text)).toThrow(),
  );
});
