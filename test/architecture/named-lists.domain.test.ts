/** Messages that name things name at most ten, by `someOf`. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { counted, someOf as shown } from '../../cli/output/names.ts';
import { someOf } from '../../domain/some-of.ts';

/** Files that join lists in texts, and why each of their lists is short or is data. */
const SHORT: Record<string, string> = {
  'api/server/plugins/access.ts': 'cut at ten',
  'api/server/plugins/unknown-paths.ts': 'methods of a path',
  'api/query.ts': 'parameters of a route',
  'api/server/schema-mistakes.ts': 'values of an enumeration',
  'activities/batches/activities.ts': 'waits of the batcher, by kind',
  'cli/commands/operator/resource-view.ts': 'counters of one run',
  'cli/commands/audit/audit-view.ts': 'members of a record, as data',
  'cli/commands/batches/batch-view.ts': 'components of one batch, as data',
  'cli/commands/propagation/connection-commands.ts': 'addresses of one input, as data',
  'cli/commands/schedules/drift-view.ts': 'layers, as data',
  'cli/commands/batches/rollout-view.ts': 'parts of one sentence',
  'cli/globals.ts': 'words of one flag',
  'cli/program.ts': 'words of one flag',
  'cli/commands/access/sign-in-commands.ts': 'lanes',
  'cli/commands/service/api-command.ts': 'methods',
  'cli/commands/service/open-command.ts': 'kinds of pages',
  'cli/output/policy-text.ts': 'parts of one sentence',
  'cli/output/shape.ts': 'columns of a view',
  'cli/commands/fleet/stop-commands.ts': 'kinds of what is stopped',
  'cli/commands/schedules/schedule-view.ts': 'three times',
  'cli/commands/trust/trust-commands.ts': 'users of a certificate',
  'cli/commands/configurations/configuration-view.ts': 'layers, as data',
  'cli/commands/secrets/secret-commands.ts': 'keys of one secret',
  'cli/commands/configurations/option-commands.ts': 'options',
  'cli/commands/deployments/delete-command.ts': 'counts by status',
  'cli/commands/deployments/deployment-view.ts': 'counts by status',
  'cli/commands/deployments/status-tree.ts': 'counts by status',
  'cli/commands/deployments/wait-for-context.ts': 'counts by status',
  'cli/commands/directory/read-directory.ts': 'kinds',
  'cli/commands/import/import-command.ts': 'kinds',
  'cli/commands/stack/show-status.ts': 'counts by state',
  'cli/commands/sessions/show-session.ts': 'containers of a Job',
  'config/access.ts': 'roles',
  'control/temporal/register-search-attributes.ts': 'search attributes of ours',
  'deploy/backup/take-backup.ts': 'settings',
  'deploy/stack/temporal-probe.ts': 'search attributes of ours',
  'domain/schedules/schedule-schema.ts': 'kinds of actions',
  'domain/components/schema.ts': 'statuses',
  'domain/configurations/repository-url.ts': 'schemes',
  'domain/sessions/lease-wait.ts': 'cut at five',
  'domain/sessions/cluster/secret-size.ts': 'keys of one Secret',
  'drivers/image-builder/check-machine.ts': 'capabilities',
  'drivers/image-builder/room.ts': 'cut at ten',
  'drivers/local-runner/end-run.ts': 'cut at ten',
  'drivers/vault/vault-client.ts': 'cut at 300 characters',
};

test('every list in a message is short, is cut, or is named by someOf', () => {
  const files = globSync('{api,activities,cli,config,control,deploy,domain,drivers,worker}/**/*.ts');
  const wrong = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    const isCut = /someOf\(|\.slice\(0|\bmore\b/.test(text);
    return /\.join\(['"`], ['"`]\)/.test(text) && !isCut && SHORT[file] === undefined;
  });
  expect(wrong.sort()).toEqual([]);
});

test('a message names at most ten things and says how many more there are', () => {
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
  expect(someOf(['a', 'b'])).toBe('a, b');
  expect(someOf(names.slice(0, 10))).not.toContain('more');
  expect(someOf(names)).toBe('n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more');
  expect(someOf(['a'], ', ', 5_000)).toBe('a and 4999 more');
  expect(shown(names)).toBe(someOf(names));
  expect([counted(1, 'host'), counted(2, 'host')]).toEqual(['1 host', '2 hosts']);
});
