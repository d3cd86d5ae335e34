/** Images are worked on as in a container, whose seccomp profile forbids pivot_root. */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { freePort } from '../support/free-port.ts';
import { inImage, type LoginKey, makeLoginKey } from '../support/images/image-login.ts';
import { imagesMissing, makeBusyboxTar } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

/** Becomes the given program, to which the kernel refuses pivot_root. */
const WITHOUT_PIVOT_ROOT = `
import ctypes, os, struct, sys
call = {'x86_64': 155, 'aarch64': 41}[os.uname().machine]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *rule) for rule in rules))
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('rules', ctypes.c_void_p)]
program = Program(len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0: sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
`;
/** The way out of a root that was left by chroot: a folder outside is kept open, then one goes up from there. */
const ESCAPE = `
import os
outside = os.open('/', os.O_RDONLY)
os.makedirs('/tmp/deeper', exist_ok=True)
os.chroot('/tmp/deeper')
os.fchdir(outside)
for _ in range(50): os.chdir('..')
os.chroot('.')
print(*os.listdir('/'))
print(open('/proc/self/mountinfo').read())
`;
const LIMITS = { maxBytes: 2 ** 30, seconds: 60, keepFree: 0 };

describeNeeding(imagesMissing(), 'the room of an image', () => {
  let dir: string;
  let key: LoginKey;
  let source: string;
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-room-'));
    await chmod(dir, 0o755);
    key = makeLoginKey(dir);
    source = await makeBusyboxTar(dir);
  });
  afterAll(async () => {
    worker?.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
  });

  test.each([
    ['is left by pivot_root', []],
    ['is moved over the old root where that is forbidden', ['python3', '-c', WITHOUT_PIVOT_ROOT]],
  ])(
    '%s, and there is no way out of it',
    async (_what, before) => {
      const jobsDir = join(dir, before.length === 0 ? 'pivoted' : 'moved');
      const port = await freePort();
      const request = { jobId: 'one', publicKey: key.publicKey, port, hostname: 'room', environment: {} };
      const program = `
      import { createImageBuilder } from ${JSON.stringify(join(import.meta.dirname, '../../drivers/image-builder/create-image-builder.ts'))};
      const builder = createImageBuilder({ jobsDir: ${JSON.stringify(jobsDir)} });
      const never = new AbortController().signal;
      const limits = ${JSON.stringify(LIMITS)};
      const unpacked = { jobId: 'one', source: ${JSON.stringify(source)}, format: 'tar', limits };
      await builder.unpack(unpacked, never, () => undefined);
      for (const jail of [true, false]) {
        await builder.open({ ...${JSON.stringify(request)}, jail }, never);
        console.log(jail ? 'in the image' : 'beside it');
        await new Promise((go) => process.stdin.once('data', go));
        await builder.close('one');
      }
      await builder.pack({ jobId: 'one', target: ${JSON.stringify(`${jobsDir}.tar`)}, format: 'tar', limits }, never, () => undefined);
      console.log('packed');
      process.exit();
    `;
      const [command = process.execPath, ...words] = [
        ...before,
        process.execPath,
        '--input-type=module',
        '--eval',
        program,
      ];
      worker = execFile(command, words);
      let complaints = '';
      worker.stderr?.on('data', (text) => {
        complaints += text;
      });
      const lines = createInterface({ input: worker.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
      const said = async () => (await lines.next()).value ?? complaints;
      expect(await said()).toBe('in the image');
      const inside = await inImage(port, key, 'ls /; ls /proc/1/root; touch /made; cat /proc/mounts');
      expect(inside.stdout).not.toMatch(/home|boot|sys$|muster-image-room/m);
      worker.stdin?.write('\n');
      expect(await said()).toBe('beside it');
      const beside = await inImage(port, key, `python3 - <<'E'\n${ESCAPE}\nE`);
      const [root = '', ...mounts] = beside.stdout.split('\n');
      expect([beside.code, root.split(' ')]).toEqual([0, expect.arrayContaining(['mnt', 'usr', 'proc'])]);
      expect(root).not.toMatch(/\b(home|boot|sys|opt)\b/);
      // Beside it only the folder of the job is mounted from the disk, and the machine's programs.
      expect(mounts.join('\n')).not.toMatch(/ \/(boot|home|var\/lib)/);
      worker.stdin?.write('\n');
      expect(await said()).toBe('packed');
      await once(worker, 'exit');
      await createImageBuilder({ jobsDir }).remove('one');
      expect(await readFile('/proc/mounts', 'utf8')).not.toContain(dir);
    },
    180_000,
  );
});
