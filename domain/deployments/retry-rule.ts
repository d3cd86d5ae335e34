/** The rule of retries of one deployment: the settings of the installation, and what the deployment says instead. */

import type { GroupSettings } from './record-schema.ts';
import type { RetryRule } from './retry.ts';

export function ruleOf({ maxRetries, retrySeconds, retryBackoff }: GroupSettings, installation: RetryRule): RetryRule {
  return {
    firstSeconds: retrySeconds ?? installation.firstSeconds,
    backoff: retryBackoff ?? installation.backoff,
    maxSeconds: Math.max(installation.maxSeconds, retrySeconds ?? 0),
    maxRetries: maxRetries === undefined ? installation.maxRetries : maxRetries < 0 ? null : maxRetries,
  };
}
