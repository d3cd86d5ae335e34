import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/**
 * The files that take longest, in the order in which they begin: one of them that began last would run alone. Those that work all the
 * time begin with some between them that wait, which is more than how long each took, as Jest remembers it; and a fresh checkout has
 * nothing to remember.
 */
const FIRST = Object.entries({
  cluster: [
    ...['worker-killed', 'image-service', 'chart-upgrade', 'break-jobs', 'job-reasons', 'job-watch', 'failed-install'],
    ...['chart-install', 'renewed-certificate', 'job-start', 'compatible-runner', 'break-cluster', 'job-end'],
    ...['plain-install', 'pod-log'],
  ],
  e2e: [
    ...['promises', 'images', 'crash', 'image-crash', 'fleet', 'retry-limit', 'image-queue', 'demo', 'trust'],
    ...['image-session', 'refusals', 'drift', 'overlap', 'schedules', 'ssh-fleet', 'batcher-crash'],
  ],
  workflow: ['image-not-taken', 'session-durability', 'image-job-continues', 'schedule-engine'],
  activity: ['image-archives', 'image-environment', 'run-playbook', 'debian-image'],
  api: ['bulk-bodies', 'bad-requests', 'database-away', 'both-versions'],
}).flatMap(([level, names]) => names.map((name) => `${name}.${level}`));

/** Starts these first, and then the others as Jest would. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const place = ({ path }) => {
      const index = FIRST.indexOf(basename(path, '.test.ts'));
      return index === -1 ? FIRST.length : index;
    };
    return super.sort(tests).toSorted((one, other) => place(one) - place(other));
  }
}
