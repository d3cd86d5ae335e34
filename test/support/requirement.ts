import { describe, test } from '@jest/globals';

/**
 * A `describe` that needs something of the machine. `missing` says what is not there (`null`: all is). Without it the tests are
 * skipped and the reason is printed; with MUSTER_TEST_REQUIRE=all they fail with that reason.
 */
export function describeNeeding(missing: string | null, title: string, body: () => void): void {
  if (missing === null) {
    describe(title, body);
  } else if (process.env.MUSTER_TEST_REQUIRE === 'all') {
    test(`${title}: needs what is missing`, () => {
      throw new Error(missing);
    });
  } else {
    process.stderr.write(`skipped: ${title}: ${missing}\n`);
    describe.skip(title, body);
  }
}
