import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { isMusterError } from '../../domain/errors.ts';
import { readArchive } from '../../drivers/app-archives/read-archive.ts';
import { archiveOf } from './archive-fixture.ts';

const manifest = (name: string, more = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;
const one = async (yaml: string) => {
  const { manifests } = await readArchive(await archiveOf([['a.yaml', yaml]]));
  return manifests[0]?.manifest as { data: Record<string, unknown> };
};
const refusal = async (archive: Uint8Array) =>
  readArchive(archive).then(
    () => null,
    (error: unknown) => (isMusterError(error) && error.code === 'render_failed' ? error.detail : String(error)),
  );

describe('an archive', () => {
  test('is read at any depth, and other files are left out', async () => {
    const archive = await archiveOf([
      ['chart/', { type: 'directory' }],
      ['chart/deep/er/b.yml', `---\n${manifest('b')}---\n# nothing\n---\n${manifest('c')}`],
      ['README.md', 'kind: nothing'],
      ['values.yaml', 'replicas: 2\n'],
      ['a.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: nn}\n'],
    ]);
    const { manifests, warnings } = await readArchive(archive);
    expect(manifests.map(({ key, path, document }) => [key, path, document])).toEqual([
      ['nn+Namespace', 'a.yaml', 0],
      ['b+ConfigMap', 'chart/deep/er/b.yml', 0],
      ['c+ConfigMap', 'chart/deep/er/b.yml', 2],
    ]);
    expect(warnings).toEqual(['values.yaml, document 0 has no apiVersion and kind and was left out']);
  });

  test('with a way out, a link, a bomb or nothing is refused', async () => {
    expect(await refusal(await archiveOf([['../a.yaml', manifest('a')]]))).toContain('leads out');
    expect(await refusal(await archiveOf([['a.yaml', { type: 'symlink', linkname: '/etc/passwd' }]]))).toContain(
      'no plain file',
    );
    expect(await refusal(gzipSync(Buffer.alloc(100 * 2 ** 20)))).toContain('unpacked');
    expect(await refusal(await archiveOf([['a.yaml', '#'.repeat(2 ** 20 + 1)]]))).toContain('larger than 1048576');
    expect(await refusal(await archiveOf([['README.md', 'x']]))).toContain('no manifest');
    const chart = ['agent/Chart.yaml', 'agent/templates/a.yaml'].map(
      (path) => [path, manifest('"{{ .Values.x }}"')] as const,
    );
    expect(await refusal(await archiveOf(chart))).toContain("a Helm chart in 'agent/', and charts are not rendered");
    const broken = [...chart, ['agent/templates/b.yaml', '{{ if }}: ['] as const];
    expect(await refusal(await archiveOf(broken))).toContain('a Helm chart');
    expect(await refusal(Buffer.from('not gzip'))).toContain('no .tar.gz');
    expect(await refusal(gzipSync(Buffer.from('not tar'.repeat(200))))).toContain('tar cannot be read');
    expect(await refusal(Buffer.alloc(16 * 2 ** 20 + 1))).toContain('larger than 16777216');
  });
});

describe('YAML', () => {
  test('means what it means for Kubernetes’ own client', async () => {
    const { data } = await one(
      manifest(
        'a',
        'data: {mode: 0644, yes: yes, off: "off", time: 12:30:45, date: 2031-03-04, tilde: ~, 1: a, big: 1e3}\n',
      ),
    );
    expect(data).toEqual({
      mode: 420,
      true: true,
      false: 'off',
      time: '12:30:45',
      date: '2031-03-04',
      tilde: null,
      1: 'a',
      big: 1000,
    });
  });

  test('may have anchors, merges, quoted texts of several lines, and a name twice', async () => {
    const { data } = await one(
      manifest('a', 'x: &x {a: 1, b: 2}\ndata:\n  <<: *x\n  b: 3\n  b: 4\n  text: "one\n   two"\n'),
    );
    expect(data).toEqual({ a: 1, b: 4, text: 'one two' });
  });

  test.each<[string, string]>([
    [
      'an alias bomb',
      `a: &a [x, x]\n${'bcdefghij'
        .split('')
        .map((name, index) => `${name}: &${name} [${`*${'abcdefghi'[index]}, `.repeat(9)}]`)
        .join('\n')}\n`,
    ],
    ['endless nesting', `a: ${'['.repeat(50_000)}`],
    ['endless entries', '- '.repeat(50_000)],
    ['a broken document', 'a: {b: [c}\n'],
    ['an unknown alias', 'a: *nowhere\n'],
  ])('with %s is refused quickly, with its file', async (_title, yaml) => {
    const begun = process.cpuUsage();
    expect(await refusal(await archiveOf([['dir/bad.yaml', yaml]]))).toContain('dir/bad.yaml');
    const { user, system } = process.cpuUsage(begun);
    // Time of the processor, µs: others may have the machine meanwhile.
    expect(user + system).toBeLessThan(5_000_000);
  });
});
