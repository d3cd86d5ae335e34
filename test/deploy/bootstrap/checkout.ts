import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = dirname(dirname(dirname(import.meta.dirname)));

export interface Outcome {
  status: number | null;
  out: string;
  err: string;
}

/**
 * A fresh checkout on a machine that has only what a test puts there: PATH is one folder, the cache is empty, and
 * programs are small scripts that note how they were called.
 */
export class Checkout {
  readonly root: string;
  readonly bin: string;
  readonly cache: string;
  env: NodeJS.ProcessEnv;

  private constructor(root: string) {
    this.root = join(root, 'checkout');
    this.bin = join(root, 'bin');
    this.cache = join(root, 'cache');
    this.env = { PATH: this.bin, HOME: root, MUSTER_CACHE_DIR: this.cache, MUSTER_TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  }

  static async create(): Promise<Checkout> {
    const checkout = new Checkout(await mkdtemp(join(tmpdir(), 'muster-checkout-')));
    await mkdir(checkout.bin);
    await cp(join(ROOT, 'bootstrap'), join(checkout.root, 'bootstrap'), { recursive: true });
    await cp(join(ROOT, 'muster'), join(checkout.root, 'muster'));
    await checkout.write('ansible/requirements.txt', 'ansible-core==0\n');
    await checkout.write('ansible/requirements-test.txt', 'pytest==0\n');
    for (const file of ['collections.txt', 'collection-requirements.txt', 'unpack-collections.py'])
      await checkout.write(`deploy/images/aee/${file}`, '');
    await checkout.write('package.json', '{"type": "module"}');
    await checkout.write('package-lock.json', '{"packages": {"": {}, "node_modules/node": {"version": "1"}}}');
    await checkout.write(
      'cli/main.ts',
      'process.stdout.write(["cli", ...process.argv.slice(2)].join(" ")); process.exit(5);',
    );
    // Tools that the scripts themselves need.
    for (const tool of ['sh', 'mkdir', 'cp', 'cat', 'ln', 'env'])
      await symlink(`/bin/${tool}`, join(checkout.bin, tool));
    return checkout;
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), text);
  }

  /** Puts a program on PATH; every call is noted with its arguments. */
  async program(name: string, script: string): Promise<void> {
    const path = join(this.bin, name);
    await writeFile(path, `#!/bin/sh\necho "${name} $*" >> '${this.calls}'\n${script}\n`);
    await chmod(path, 0o755);
  }

  /** git, and an npm and a Python that install nothing but what the installer looks for. */
  async usualPrograms(): Promise<void> {
    await this.program('git', 'exit 0');
    await this.program(
      'npm',
      `mkdir -p node_modules/node/bin && ln -sf '${process.execPath}' node_modules/node/bin/node\n` +
        'cp package-lock.json node_modules/.package-lock.json',
    );
    await this.program(
      'python3',
      `case "$1 $2" in
        "-c import sys"*) echo "3 12" ;;
        "-m venv") mkdir -p "$3/bin" && ln -s "$0" "$3/bin/python" ;;
      esac`,
    );
  }

  private get calls(): string {
    return join(this.bin, 'calls.txt');
  }

  /** What was called since the last question, one line a call. */
  async called(): Promise<string[]> {
    const text = await readFile(this.calls, 'utf8').catch(() => '');
    await rm(this.calls, { force: true });
    return text.split('\n').filter((line) => line !== '');
  }

  /** `node bootstrap/run.mjs ...` */
  run(...args: string[]): Promise<Outcome> {
    return this.start(process.execPath, [join(this.root, 'bootstrap', 'run.mjs'), ...args]);
  }

  /** `./muster ...` */
  muster(...args: string[]): Promise<Outcome> {
    return this.start(process.execPath, [join(this.root, 'muster'), ...args]);
  }

  private start(file: string, args: string[]): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { env: this.env, cwd: this.root });
      const outcome: Outcome = { status: null, out: '', err: '' };
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        outcome.out += chunk;
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        outcome.err += chunk;
      });
      child.on('error', reject);
      child.on('close', (status) => resolve({ ...outcome, status }));
    });
  }

  async remove(): Promise<void> {
    await rm(dirname(this.root), { recursive: true, force: true });
  }
}
