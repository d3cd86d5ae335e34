import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jobNameOf } from '../../../control/sessions/cluster/job-name.ts';

test('a job has one name for each admission of its session', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.date({ noInvalidDate: true }), (id, at) => {
      const name = jobNameOf(id, at);
      expect(name).toMatch(/^cfs-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(jobNameOf(id, new Date(at))).toBe(name);
      expect(jobNameOf(id, new Date(at.getTime() === 0 ? 1 : 0))).not.toBe(name);
    }),
  );
});
