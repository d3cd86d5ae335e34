import { basename } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/**
 * Seconds of the files that take longest. Jest remembers how long each took; a fresh checkout has nothing to remember, and one
 * of these that began last would run alone.
 */
const SECONDS = {
  'worker-killed.cluster': 267,
  'image-service.cluster': 217,
  'chart-upgrade.cluster': 210,
  'job-reasons.cluster': 186,
  'break-jobs.cluster': 182,
  'job-watch.cluster': 140,
  'renewed-certificate.cluster': 121,
  'chart-install.cluster': 113,
  'compatible-runner.cluster': 91,
  'break-cluster.cluster': 176,
  'images.e2e': 135,
  'promises.e2e': 100,
  'crash.e2e': 98,
  'image-crash.e2e': 97,
  'image-queue.e2e': 72,
  'drift.e2e': 71,
  'image-session.e2e': 67,
  'fleet.e2e': 54,
  'retry-limit.e2e': 47,
  'trust.e2e': 43,
  'ssh-fleet.e2e': 40,
  'image-not-taken.workflow': 49,
  'bulk-bodies.api': 45,
  'bad-requests.api': 38,
  'database-away.api': 27,
};

/** Starts the files that take longest first, as Jest does once it has run them. */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some((test) => test.duration !== undefined)) return sorted;
    const seconds = ({ path }) => SECONDS[basename(path, '.test.ts')] ?? 0;
    return sorted.toSorted((one, other) => seconds(other) - seconds(one));
  }
}
