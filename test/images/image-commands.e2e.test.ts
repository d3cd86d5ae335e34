/** The commands of images against a real API, and against one that sends what it should not. */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { always, answer, type FakeApi, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { importedImage, smallTar } from './fixtures.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-image-commands-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('with the API', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await createTestApi();
    await api.app.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    api.app.server.closeAllConnections();
    await api.close();
  });
  afterEach(async () => {
    for (const { id } of await images()) await api.call('DELETE', `/api/v1/images/${id}`);
  });

  const run = (args: string[], stdin?: string) =>
    cli(['image', ...args], { url, ...(stdin === undefined ? {} : { stdin }) });
  const images = async (): Promise<{ id: string; name: string; sha256: string }[]> =>
    (await api.call('GET', '/api/v1/images')).body.images;
  const names = async () => (await images()).map(({ name }) => name);

  test('delete takes several, by name and by id', async () => {
    for (const name of ['a', 'b', 'c']) await importedImage(api, name);
    const id = await importedImage(api, 'd');
    expect(await run(['delete', 'a', id, 'c'])).toMatchObject({
      exit: 0,
      out: '',
      err: `image a deleted\nimage ${id} deleted\nimage c deleted\n`,
    });
    expect(await names()).toEqual(['b']);
  });

  test('delete --dry-run shows the requests and sends none', async () => {
    const id = await importedImage(api, 'a');
    const { exit, out, err } = await run(['delete', 'a', '--dry-run=request']);
    expect([exit, `${out}${err}`]).toEqual([0, expect.stringContaining(`DELETE ${url}/api/v1/images/${id}`)]);
    expect(await names()).toEqual(['a']);
  });

  test('a name that several have names none: their ids are shown', async () => {
    const ids = [await importedImage(api, 'same'), await importedImage(api, 'same')];
    for (const command of [
      ['get', 'same'],
      ['delete', 'same'],
      ['export', 'same', join(dir, 'out')],
    ]) {
      const { exit, err } = await run(command);
      expect([exit, err]).toEqual([2, expect.stringContaining('2 images have the name same')]);
      for (const id of ids) expect(err).toContain(id);
    }
    expect(await names()).toEqual(['same', 'same']);
    expect(await readdir(dir)).toEqual([]);
  });

  test('a name that none has, and an id that none has, are not found', async () => {
    expect(await run(['get', 'none'])).toMatchObject({ exit: 3, err: expect.stringContaining('image_not_found') });
    expect(await run(['delete', randomUUID()])).toMatchObject({ exit: 3 });
  });

  test('import takes stdin, which needs a name', async () => {
    const tar = smallTar().toString('latin1');
    expect(await run(['import', '-'], tar)).toMatchObject({ exit: 2, err: expect.stringContaining('--name') });
    const made = await run(['import', '-', '--name', 'piped', '--arch', 'aarch64', '-o', 'name'], tar);
    expect(made).toMatchObject({ exit: 0, err: expect.stringContaining('image piped imported: 2.0 KiB, tar') });
    const [image] = await images();
    expect([image?.id, image?.name, image?.sha256]).toEqual([made.out.trim(), 'piped', sha256(smallTar())]);
  });

  test('import --sha256 refuses another file, and digits that are none before anything is sent', async () => {
    const file = join(dir, 'root.tar');
    await writeFile(file, smallTar());
    const other = await run(['import', file, '--sha256', 'A'.repeat(64)]);
    expect(other).toMatchObject({ exit: 2, err: expect.stringContaining('image_checksum_wrong') });
    expect(await run(['import', file, '--sha256', 'x'])).toMatchObject({ exit: 2 });
    expect(await names()).toEqual([]);
    const right = sha256(smallTar()).toUpperCase();
    expect(await run(['import', file, '--sha256', right])).toMatchObject({ exit: 0 });
    expect(await names()).toEqual(['root.tar']);
  });

  test('export writes no file that is there, except with --force', async () => {
    await importedImage(api, 'base');
    const file = join(dir, 'out.tar');
    await writeFile(file, 'mine');
    expect(await run(['export', 'base', file])).toMatchObject({ exit: 2, err: expect.stringContaining('--force') });
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await run(['export', 'base', file, '--force'])).toMatchObject({ exit: 0 });
    expect(await readFile(file)).toEqual(smallTar());
    expect(await readdir(dir)).toEqual(['out.tar']);
  });

  test.each([
    ['a folder', async (path: string) => mkdir(path)],
    // As /dev/null: a file that came in its place would stay there.
    ['a pipe', async (path: string) => promisify(execFile)('mkfifo', [path])],
  ])('export never takes the place of %s', async (_kind, make) => {
    await importedImage(api, 'base');
    const place = join(dir, 'place');
    await make(place);
    const { ino } = await lstat(place);
    const refused = await run(['export', 'base', place, '--force']);
    expect(refused).toMatchObject({ exit: 2, err: expect.stringContaining(`${place} is no file`) });
    expect([(await lstat(place)).ino, await readdir(dir)]).toEqual([ino, ['place']]);
  });

  test('export to stdout is refused, and makes no file of that name', async () => {
    await importedImage(api, 'base');
    expect(await run(['export', 'base', '-'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('not to stdout'),
    });
  });

  test('two exports to one file at once, and a file of another: all are whole', async () => {
    await importedImage(api, 'base');
    const file = join(dir, 'out.tar');
    await writeFile(`${file}.part`, 'mine');
    const both = await Promise.all([1, 2].map(() => run(['export', 'base', file, '--force'])));
    expect(both).toMatchObject([{ exit: 0 }, { exit: 0 }]);
    expect(await readFile(file)).toEqual(smallTar());
    expect(await readFile(`${file}.part`, 'utf8')).toBe('mine');
    expect((await readdir(dir)).sort()).toEqual(['out.tar', 'out.tar.part']);
  });

  test('import of a file that breaks off while it is read names the file, not the server', async () => {
    const refused = await run(['import', '/proc/self/mem', '--name', 'broken']);
    expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('/proc/self/mem could not be read: EIO') });
    expect(await names()).toEqual([]);
  });

  test('export below a file says so', async () => {
    await importedImage(api, 'base');
    await writeFile(join(dir, 'file'), 'mine');
    const refused = await run(['export', 'base', join(dir, 'file', 'out.tar')]);
    expect(refused).toMatchObject({ exit: 1, err: expect.stringMatching(/^error: file_not_written: .*ENOTDIR/) });
  });

  test('export into a folder that is not there says so', async () => {
    await importedImage(api, 'base');
    const refused = await run(['export', 'base', join(dir, 'none', 'out.tar')]);
    expect(refused).toMatchObject({ exit: 1, err: expect.stringMatching(/file_not_written: .*ENOENT/) });
  });
});

describe('with an API that sends something else', () => {
  let api: FakeApi;
  const id = randomUUID();
  const image = {
    id,
    name: 'base',
    sha256: sha256(smallTar()),
    size: null,
    format: 'tar',
    created: '',
    arch: 'x86_64',
  };
  beforeEach(async () => {
    api = await startFakeApi();
    api.on(`GET /api/v1/images/${id}`, always(200, image));
  });
  afterEach(() => api.close());
  const run = (...args: string[]) => cli(['image', ...args], { url: api.url });
  const content = `GET /api/v1/images/${id}/content`;

  test('an import that arrived as another file is removed', async () => {
    const file = join(dir, 'root.tar');
    await writeFile(file, smallTar());
    api.on('POST /api/v1/images', async (_request, response) => answer(response, 201, { ...image, sha256: 'other' }));
    api.on(`DELETE /api/v1/images/${id}`, always(204));
    expect(await run('import', file)).toMatchObject({ exit: 1, err: expect.stringContaining('the image was removed') });
    expect(api.seen.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });

  test('an export with another checksum leaves what was there', async () => {
    const file = join(dir, 'out.tar');
    await writeFile(file, 'mine');
    api.on(content, (_request, response) => void response.end('something else'));
    const refused = await run('export', id, file, '--force');
    expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('checksum_wrong') });
    expect([await readdir(dir), await readFile(file, 'utf8')]).toEqual([['out.tar'], 'mine']);
  });

  test('an export replaces no file that came while it was on its way', async () => {
    const file = join(dir, 'out.tar');
    api.on(content, async (_request, response) => {
      await writeFile(file, 'mine');
      response.end(smallTar());
    });
    expect(await run('export', id, file)).toMatchObject({ exit: 2, err: expect.stringContaining('is there already') });
    expect([await readdir(dir), await readFile(file, 'utf8')]).toEqual([['out.tar'], 'mine']);
  });

  test('Ctrl-C says what is there', async () => {
    const file = join(dir, 'root.tar');
    await writeFile(file, smallTar());
    const interrupted = async (args: string[], path: string) => {
      const reached = Promise.withResolvers<void>();
      api.on(path, (request, response) => {
        if (request.method === 'GET') response.write('a part');
        response.req.resume().on('end', () => reached.resolve());
      });
      const command = startCli(['image', ...args], { url: api.url });
      await reached.promise;
      command.interrupt();
      return { exit: await command.ended, err: command.err() };
    };
    const imported = await interrupted(['import', file], 'POST /api/v1/images');
    expect(imported).toMatchObject({ exit: 130, err: expect.stringContaining('the image may be there') });
    const out = join(dir, 'out.tar');
    const exported = await interrupted(['export', id, out], content);
    expect(exported).toMatchObject({ exit: 130, err: expect.stringContaining(`${out} is as it was`) });
    expect(await readdir(dir)).toEqual(['root.tar']);
  });

  test('an export that breaks off leaves nothing, and says so', async () => {
    api.on(content, (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('the first bytes', () => response.destroy());
    });
    expect(await run('export', id, join(dir, 'out.tar'))).toMatchObject({
      exit: 7,
      err: expect.stringContaining('the connection broke off'),
    });
    expect(await readdir(dir)).toEqual([]);
  });
});
