import { describe, expect, test } from '@jest/globals';
import type { ImageJob } from '../../../domain/images/image-service.ts';
import { effectiveLimit } from '../../../domain/sessions/ansible-arguments.ts';
import { IMAGE_PYTHON, imageInventory, imageToJob } from '../../../domain/sessions/images/image-inventory.ts';
import { isWantedJob, resultState, shellState } from '../../../domain/sessions/images/image-jobs.ts';
import {
  imageGroups,
  imagesOf,
  mappedName,
  resultNameOf,
  serviceImageId,
} from '../../../domain/sessions/images/image-names.ts';
import { describeImages } from '../../../domain/sessions/images/image-progress.ts';
import { imageFault, isLeftOut } from '../../../domain/sessions/images/image-success.ts';
import { checkTarget } from '../../../domain/sessions/target.ts';

const A = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
const B = '6f1d3c5f-2f0a-4d57-9f3e-0f6a3c6f0d22';
const group = (name: string, ...members: string[]) => ({ name, members });

describe('names', () => {
  test.each([
    [[], []],
    [[group('a', A)], [A]],
    [
      [group('a', B, A), group('b', A, B)],
      [B, A],
    ],
    [[group('a', A, A)], [A]],
    [
      [group('a', A.toUpperCase()), group('b', B, A, A.replaceAll('-', ''))],
      [A.toUpperCase(), B],
    ],
  ])('the images of %j are %j', (groups, images) => {
    expect(imagesOf({ groups })).toEqual(images);
  });

  test('an image has one name in all groups, and in the limit: as it is named first', () => {
    const plain = A.replaceAll('-', '').toUpperCase();
    const groups = [group('a', plain, B), group('b', A)];
    expect(imageGroups({ groups })).toEqual([group('a', plain, B), group('b', plain)]);
    const target = { definition: 'image' as const, groups, image_map: null };
    expect(effectiveLimit({ limit: null, target })).toBe(`${plain},${B},${plain}`);
    expect(imageInventory(target, [], { keyFile: '/k', interpreter: 'p' }).groups).toEqual(
      new Map([
        ['a', [plain, B]],
        ['b', [plain]],
        ['cfs_image', [plain, B]],
      ]),
    );
  });

  test.each([
    [A, A],
    [A.toUpperCase(), A],
    [A.replaceAll('-', ''), A],
    ['11111111111111111111111111111111', '11111111-1111-1111-1111-111111111111'],
    ['FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ])('the image service is asked for %s as %s', (member, id) => {
    expect(serviceImageId(member)).toBe(id);
    const body = { definition: 'image' as const, groups: [group('g', member)] };
    expect(checkTarget(body).groups).toEqual(body.groups);
  });

  test.each([
    [null, null],
    [[], null],
    [[{ source_id: B, result_name: 'b' }], null],
    [[{ source_id: A, result_name: 'a' }], 'a'],
    [[{ source_id: A, result_name: '' }], null],
    [[{ source_id: A.toUpperCase(), result_name: 'a' }], 'a'],
    [[{ source_id: A.replaceAll('-', ''), result_name: 'a' }], 'a'],
    [
      [
        { source_id: A, result_name: 'first' },
        { source_id: A, result_name: 'second' },
      ],
      'first',
    ],
  ])('image_map %j gives the result the name %j', (image_map, name) => {
    expect(mappedName({ image_map }, A)).toBe(name);
  });

  test('else a result is called after its image and the session', () => {
    expect(resultNameOf('cray-sles', 'nightly')).toBe('cray-sles_cfs_nightly');
  });
});

describe('inventory', () => {
  const open = { image: A, resultName: 'r', job: 'j', host: 'h', port: 22 };
  const login = { keyFile: '/k', interpreter: IMAGE_PYTHON.compatible };

  test('a group cfs_image of the target keeps its members beside all images', () => {
    const tree = imageInventory({ groups: [group('cfs_image', B), group('x', A)] }, [open], login);
    expect(tree.below).toBe('top');
    expect(Object.fromEntries(tree.groups)).toEqual({ cfs_image: [B, A], x: [A] });
    expect([...(tree.memberVariables?.get('cfs_image')?.keys() ?? [])]).toEqual([A]);
  });

  test.each(['a,b', 'plugin', '', 'x[1:3]'])('a group that Ansible would misread is refused: %j', (name) => {
    expect(() => imageInventory({ groups: [group(name, A)] }, [open], login)).toThrow(/misread/);
  });

  test('the breadcrumb names job and image of each result', () => {
    expect(JSON.parse(imageToJob([open, { ...open, image: B, resultName: '"odd": name', job: 'k' }]))).toEqual({
      r: { job_id: 'j', image_id: A },
      '"odd": name': { job_id: 'k', image_id: B },
    });
  });
});

describe('whether an image is good', () => {
  type Result = 'applied' | 'failed' | 'incomplete';
  const layer = (index: number, exitCode: number | null, result?: Result) => ({
    layer: index,
    exitCode,
    results: new Map(result === undefined ? [] : [[A, result]]),
  });
  test.each([
    ['all layers applied', [0, 1], [layer(0, 0, 'applied'), layer(1, 0, 'applied')], null],
    ['no layer was meant for it', [0], [layer(0, 0)], null],
    ['another image failed in the last layer', [0], [layer(0, 2, 'applied')], null],
    ['another image was not reached', [0], [layer(0, 4, 'applied')], null],
    ['some failed, some were not reached', [0], [layer(0, 6, 'applied')], null],
    ['another image failed before its last layer', [0, 1], [layer(0, 2, 'applied')], 'layer 2 did not run'],
    ['it failed itself', [0], [layer(0, 2, 'failed')], 'layer 1 failed'],
    ['it failed in a layer that succeeded', [0], [layer(0, 0, 'failed')], 'layer 1 failed'],
    ['it was broken off', [0], [layer(0, 2, 'incomplete')], 'layer 1 is incomplete'],
    ['no result where others failed', [0], [layer(0, 2)], 'layer 1 failed before it came to this image'],
    ['an error of Ansible', [0], [layer(0, 1, 'applied')], 'layer 1 ended with exit status 1'],
    ['ended by a signal', [0], [layer(0, 143, 'applied')], 'layer 1 ended with exit status 143'],
    ['a lost run', [0], [layer(0, null, 'applied')], 'nobody knows how layer 1 ended'],
    ['an index that is not the first', [3], [layer(3, 2, 'failed')], 'layer 4 failed'],
    ['nothing ran', [0], [], 'layer 1 did not run'],
  ])('%s', (_, selected, layers, fault) => {
    expect(imageFault(A, selected, layers)).toBe(fault);
  });
});

describe('whether the limit has left an image out', () => {
  const groups = [group('web', A), group('db', B)];
  const done = (exitCode: number | null, ...reached: string[]) => ({
    layer: 0,
    exitCode,
    results: new Map(reached.map((image) => [image, 'applied' as const])),
  });
  test.each([
    ['no limit', null, [done(0, B)], false],
    ['an empty limit', '', [done(0, B)], false],
    ['another image alone', B, [done(0, B)], true],
    ['another group alone', 'db', [done(0, B)], true],
    ['another image, and the playbook failed on it', B, [done(2, B)], true],
    ['another image, and nobody reports results', B, [], true],
    ['itself, though no play was for it', A, [done(0, B)], false],
    ['its group, though no play was for it', 'db,web', [done(0, B)], false],
    ['all images, though no play was for it', 'cfs_image', [done(0, B)], false],
    ['a pattern, and a layer came to it', 'd*:w*', [done(0, A, B)], false],
    ['a pattern, and no layer came to it', 'all:!web', [done(0, B)], true],
    ['a group of the additional inventory, and no layer came to it', 'rack7', [done(0, B)], true],
    ['a group of the additional inventory, and a layer came to it', 'rack7', [done(0, A)], false],
    ['a pattern, and the layers failed before they came to it', 'all:!x', [done(2, B)], false],
    ['a pattern, and nothing ran', 'all:!x', [], false],
    ['a pattern, and nobody knows how the layer ended', 'all:!x', [done(null)], false],
  ])('%s', (_, limit, layers, is) => {
    expect(isLeftOut(A, { limit, groups }, [0], layers)).toBe(is);
  });
});

const job = (given: Partial<ImageJob> = {}): ImageJob => ({
  id: 'j',
  status: 'waiting_on_user',
  imageId: A,
  resultName: 'r',
  publicKeyId: 'k',
  resultId: null,
  shells: [{ name: 's', connection: { host: 'h', port: 22 } }],
  message: '',
  ...given,
});

describe('a job', () => {
  const wanted = { image: A, resultName: 'r', sessionName: 's', publicKeyId: 'k' };
  test.each([
    [job(), [], true],
    [job({ imageId: A.toUpperCase() }), [], true],
    [job({ imageId: B }), [], false],
    [job({ resultName: 'x' }), [], false],
    [job({ shells: [{ name: 'other', connection: null }] }), [], false],
    [job({ publicKeyId: 'of a former session' }), [], false],
    [job({ publicKeyId: null }), [], true],
    [job({ publicKeyId: null }), ['j'], false],
    [job(), ['j'], true],
  ])('is known again: %#', (candidate, ofOthers, is) => {
    expect(isWantedJob(candidate, wanted, new Set(ofOthers))).toBe(is);
  });

  test.each([
    [null, 'over'],
    [job({ status: 'creating' }), 'not yet'],
    [job({ status: 'fetching_image' }), 'not yet'],
    [job({ status: 'a word of later' }), 'not yet'],
    [job({ status: 'error', message: 'disk full' }), 'over'],
    [job({ status: 'success' }), 'over'],
    [job({ resultId: 'i' }), 'over'],
    [job({ shells: [] }), 'over'],
    [job({ shells: [{ name: 's', connection: null }] }), 'not yet'],
    [job(), 'open'],
  ])('shell %#: %s', (candidate, state) => {
    expect(shellState(candidate, 's').state).toBe(state);
  });

  test.each([
    [null, 'over'],
    [job({ status: 'packaging_artifacts' }), 'not yet'],
    [job({ status: 'packaging_artifacts', resultId: 'i' }), 'done'],
    [job({ status: 'success', resultId: 'i' }), 'done'],
    [job({ status: 'success' }), 'over'],
    [job({ status: 'error' }), 'over'],
  ])('result %#', (candidate, state) => {
    expect(resultState(candidate).state).toBe(state);
  });

  test.each([
    ['waits for its turn: 10 other image jobs are open or wait with those that are (MUSTER_IMAGE_JOBS is 10)', true],
    ['no worker that can do it has its directory of images', false],
    ['', false],
  ])('that says %j: waits for its turn, %s', (message, queued) => {
    for (const status of ['creating', 'waiting_on_user', 'fetching_image']) {
      expect(resultState(job({ status, message }))).toMatchObject({ state: 'not yet', queued });
    }
    expect(shellState(job({ status: 'creating', message }), 's')).toMatchObject({ state: 'not yet', queued });
  });

  test('says why it ended where the service says it', () => {
    expect(shellState(job({ status: 'error', message: 'disk full' }), 's')).toEqual({
      state: 'over',
      message: 'its job ended in error: disk full',
    });
  });
});

test('progress names the images that are not there yet, and not too many', () => {
  const step = (resultName: string, state: 'open' | 'preparing', message = '') => ({ resultName, state, message });
  expect(describeImages([step('a', 'open'), step('b', 'preparing', 'fetching_image')], 'open')).toBe(
    '1 of 2 images open; b: fetching_image',
  );
  const many = ['a', 'b', 'c', 'd', 'e'].map((name) => step(name, 'preparing'));
  expect(describeImages(many, 'open')).toBe('0 of 5 images open; a: preparing; b: preparing; c: preparing; and 2 more');
  expect(describeImages([step('a', 'open')], 'open')).toBe('1 of 1 images open');
});
