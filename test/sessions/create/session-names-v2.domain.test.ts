import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type SessionRecord, toSession } from '../../../domain/sessions/record.ts';
import { type SessionCreate, SessionCreateSchema } from '../../../domain/sessions/schema.ts';
import { V2Session, V2SessionCreate } from '../../../domain/sessions/v2-schema.ts';

const record: SessionRecord = {
  id: 'i',
  name: 's',
  configuration_name: 'c',
  configuration_limit: '0',
  ansible_config: 'cfg',
  ansible_limit: null,
  ansible_verbosity: 1,
  ansible_passthrough: null,
  target: {
    definition: 'image',
    groups: [{ name: 'g', members: ['m'] }],
    image_map: [{ source_id: 'a', result_name: 'b' }],
  },
  tags: { some_tag: 'x' },
  debug_on_failure: true,
  status: 'complete',
  succeeded: 'true',
  job: 'j',
  ims_job: 'ij',
  ims_jobs: ['ii', 'ij'],
  artifacts: [{ image_id: 'a', result_id: 'b', type: 'ims_customized_image' }],
  start_time: new Date('2026-11-21T10:00:00Z'),
  completion_time: new Date('2026-11-21T10:01:00Z'),
  message: 'm',
  snapshot: { layers: [], additional_inventory: null, debug_playbook: null, ansible_config: '' },
  muster: { check: true },
};

test('v2 shows the same record; only names in status.session differ, and what v3 added is left out', () => {
  const { debug_on_failure: _, logs: __, muster: _____, status, ...same } = toSession(record, 'http://logs');
  const { ims_job: ___, ims_jobs: ______, message: ____, start_time, completion_time, ...session } = status.session;
  expect(V2Session.show(toSession(record, 'http://logs'))).toEqual({
    ...same,
    status: {
      artifacts: record.artifacts,
      session: { ...session, startTime: start_time, completionTime: completion_time },
    },
  });
});

test('the members of a create, one by one', () => {
  const wanted: SessionCreate = {
    name: 's',
    configuration_name: 'c',
    configuration_limit: 'l',
    ansible_limit: 'h',
    ansible_config: 'cfg',
    ansible_verbosity: 2,
    ansible_passthrough: '-e a=b',
    target: { definition: 'spec', groups: [{ name: 'g', members: ['m'] }], image_map: [] },
    tags: { some_tag: 'x' },
  };
  const names: Record<string, string> = {
    configuration_name: 'configurationName',
    configuration_limit: 'configurationLimit',
    ansible_limit: 'ansibleLimit',
    ansible_config: 'ansibleConfig',
    ansible_verbosity: 'ansibleVerbosity',
    ansible_passthrough: 'ansiblePassthrough',
  };
  const sent = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [names[name] ?? name, value]));
  expect(V2SessionCreate.input.parse(sent)).toEqual(wanted);
  for (const [v3, v2] of Object.entries(names)) {
    const { [v2]: value, ...rest } = sent;
    expect(V2SessionCreate.input.safeParse({ ...rest, [v3]: value }).success).toBe(false);
  }
});

test('v2 takes what v3 takes, in its names, and nothing else', () => {
  const text = fc.oneof(fc.constant('a'), fc.constant('a b'), fc.constant(''), fc.string());
  const member = fc.oneof(text, fc.integer({ min: -1, max: 6 }), fc.constant(null), fc.boolean());
  const body = fc.record(
    { name: member, configuration_limit: member, ansible_limit: member, ansible_verbosity: member, tags: member },
    { requiredKeys: ['name'] },
  );
  fc.assert(
    fc.property(body, ({ name, configuration_limit, ansible_limit, ansible_verbosity, tags }) => {
      const v3 = { name, configuration_name: 'c', configuration_limit, ansible_limit, ansible_verbosity, tags };
      const v2 = {
        name,
        configurationName: 'c',
        configurationLimit: configuration_limit,
        ansibleLimit: ansible_limit,
        ansibleVerbosity: ansible_verbosity,
        tags,
      };
      expect(V2SessionCreate.input.safeParse(v2).data).toEqual(SessionCreateSchema.safeParse(v3).data);
    }),
  );
});
