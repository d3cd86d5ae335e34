import { expect, test } from '@jest/globals';
import { layerPlace, layerWords } from '../../../cli/output/layers.ts';
import { describeHold } from '../../../domain/sessions/hold.ts';
import { layerName, placeOfLayer } from '../../../domain/sessions/layer-name.ts';
import { describeSlotWait } from '../../../domain/sessions/slot-wait.ts';

const now = new Date('2026-11-26T09:29:52.000Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

test.each([
  [[0, 1], 0, 'layer 1/2 site.yml'],
  [[0, 1], 1, 'layer 2/2 site.yml'],
  [[2], 2, 'layer 1/1 site.yml'],
  [[], 4, 'layer 5 site.yml'],
])('a layer is called alike in sentences and by the command line: %j, %d', (indices, index, words) => {
  const layers = indices.map((one) => ({ index: one }));
  expect(layerName(index, placeOfLayer(layers, index), 'site.yml')).toBe(words);
  expect(layerWords(index, layers, 'site.yml')).toBe(words);
  expect(words).toContain(` ${layerPlace(index, layers)} `);
});

test.each([
  [1, 1, [['hang', 7]], 'waits for a slot: 1 of 1 taken, by `hang` for 7 s (option max_running_sessions)'],
  [2, 1, [], 'waits for a slot: 2 of 1 taken (option max_running_sessions)'],
  [
    50,
    50,
    [
      ['a', 200_000],
      ['b', 8_000],
      ['c', 130],
      ['d', 1],
    ],
    'waits for a slot: 50 of 50 taken, by `a` for 2 d, `b` for 2 h, `c` for 2 min and 47 more (option max_running_sessions)',
  ],
] as const)('%d of %d slots are taken', (taken, limit, holders, sentence) => {
  const given = holders.map(([session, seconds]) => ({ session, since: ago(seconds) }));
  expect(describeSlotWait({ taken, limit, holders: given }, now)).toBe(sentence);
});

test('a holder whose clock is ahead has had its slot for no time', () => {
  const holders = [{ session: 'a', since: ago(-30) }];
  expect(describeSlotWait({ taken: 1, limit: 1, holders }, now)).toContain('`a` for 0 s');
});

test.each([
  [3_600, 'held until 10:29:52Z after'],
  [86_400, 'held until 2026-11-27T09:29:52Z after'],
])('a hold of %d s', (seconds, begin) => {
  const until = ago(-seconds);
  const failure = 'layer 1/2 site.yml failed: 1 of 1 host failed (n1), exit status 2';
  expect(describeHold({ session: 's', failure, now, until, workspace: '/data/w' })).toBe(
    `${begin} ${failure}; \`./muster session retry s\` runs it again, \`./muster session finish-debug s\` ends it; workspace /data/w`,
  );
  expect(describeHold({ session: 's', failure, now, until, workspace: undefined })).not.toContain('workspace');
});
