import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/**
 * The files that take longest, in the order in which they begin. Jest remembers how long each took; a fresh checkout has nothing to
 * remember, and one of these that began last would run alone. On the cluster those that work all the time begin with some between
 * them that wait.
 */
const FIRST = Object.entries({
  cluster: [
    ...['worker-killed', 'image-service', 'chart-upgrade', 'break-jobs', 'job-reasons', 'job-watch'],
    ...['chart-install', 'renewed-certificate', 'compatible-runner', 'break-cluster', 'job-end', 'plain-install'],
    ...['failed-install', 'pod-log', 'job-start'],
  ],
  e2e: [
    ...['promises', 'images', 'crash', 'image-crash', 'image-queue', 'drift', 'image-session', 'demo', 'fleet'],
    ...['retry-limit', 'trust', 'ssh-fleet', 'batcher-crash'],
  ],
  workflow: ['image-not-taken', 'session-durability', 'image-job-continues', 'schedule-engine'],
  activity: ['image-archives', 'image-environment', 'run-playbook', 'debian-image'],
  api: ['bulk-bodies', 'bad-requests', 'database-away', 'both-versions'],
}).flatMap(([level, names]) => names.map((name) => `${name}.${level}`));

/** Starts the files that take longest first, as Jest does once it has run them. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some((test) => test.duration !== undefined)) return sorted;
    const place = ({ path }) => {
      const index = FIRST.indexOf(basename(path, '.test.ts'));
      return index === -1 ? FIRST.length : index;
    };
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
