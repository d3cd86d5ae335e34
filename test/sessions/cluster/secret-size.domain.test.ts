import { describe, expect, test } from '@jest/globals';
import { checkSecretSize } from '../../../domain/sessions/cluster/secret-size.ts';

const MOST = 1_048_576;

/** What is said of a Secret that is too large; '' of one that is not. */
function refusal(values: Record<string, string>): string {
  try {
    checkSecretSize(values);
    return '';
  } catch (error) {
    expect(error).toMatchObject({ code: 'container_config_invalid' });
    return (error as Error).message;
  }
}

describe('the Secret of a Job', () => {
  test('may have what Kubernetes takes, in bytes of all values', () => {
    expect(refusal({ token: 't', 'credentials.json': 'x'.repeat(MOST - 1) })).toBe('');
    expect(refusal({ token: 'tt', 'credentials.json': 'x'.repeat(MOST - 1) })).not.toBe('');
    expect(refusal({ known_hosts: 'ü'.repeat(MOST / 2) })).toBe('');
    expect(refusal({ known_hosts: 'ü'.repeat(MOST / 2 + 1) })).not.toBe('');
  });

  test('that is too large is refused with its largest keys and what to do, and without a value', () => {
    const words = refusal({
      token: 'hidden-word',
      known_hosts: 'hidden-word '.repeat(10_000),
      'credentials.json': 'hidden-word '.repeat(80_000),
      'ca.crt': 'hidden-word '.repeat(20_000),
    });
    expect(words).toMatch(
      /^the Secret of its Job would have 1320011 bytes, Kubernetes takes 1048576: credentials.json 960000, ca.crt 240000, known_hosts 120000\. /,
    );
    expect(words).toContain("credentials.json has a source's CA bundle once for each of its layers");
    expect(words).toContain('ca.crt is the file of MUSTER_CA_FILE');
    expect(words).toContain('known_hosts is that of the Secret muster-ssh');
    expect(words).not.toMatch(/hidden|token/);
    // The record keeps so much of a failure.
    expect(words.length).toBeLessThan(500);
  });
});
