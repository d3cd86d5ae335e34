/** The inventory of a whole fleet, of which a part at a time is in memory. */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  componentInventory,
  type InventoryComponent,
  leftOutWarnings,
} from '../../../domain/components/inventory/inventory.ts';
import { limitHosts, namesOf } from '../../../domain/components/inventory/inventory-tree.ts';
import { createGroupRuns } from '../../../drivers/inventory/group-runs.ts';
import { openSpool, recordsOf, type Spool } from '../../../drivers/inventory/spool.ts';
import { type FleetMemory, writeFleet } from '../../../drivers/inventory/write-fleet.ts';
import { GENERATED_INVENTORY, type InventoryForm, writeInventory } from '../../../drivers/inventory/write-inventory.ts';
import { fleetRecords } from '../../support/fakes/fleet-records.ts';

const rules = { allowLocalConnection: true };
let root: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-fleet-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function folder(): Promise<string> {
  const dir = join(root, String(count++));
  await mkdir(dir);
  return dir;
}

const going = new AbortController().signal;
const textIn = (dir: string) => readFile(join(dir, GENERATED_INVENTORY), 'utf8');

async function writtenInParts(
  dir: string,
  components: readonly InventoryComponent[],
  { form, names = [], memory }: { form: InventoryForm; names?: readonly string[]; memory: FleetMemory },
) {
  const fleet = { eachPage: fleetRecords(components).eachPage, rules };
  return writeFleet({ dir, form, limit: '', signal: going }, fleet, { limitNames: new Set(names), memory });
}

const word = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom('a', 'b', 'a_b', 'a_b_c', 'b_c', 'all', 'x[0:3]', '__proto__', 'role_web', 'role', 'web', 'n-1'),
);
const tags = fc.dictionary(
  fc.oneof(word, fc.constantFrom('ansible_user', 'ansible_port', 'ansible_python_interpreter')),
  fc.oneof(word, fc.constantFrom('22', '/opt/my python')),
  { maxKeys: 5 },
);
const someComponents = fc.uniqueArray(fc.record({ id: word, tags }), { selector: ({ id }) => id, maxLength: 20 });

test.each(['data', 'yaml'] as const)(
  'as %s the file, its names and its warnings are those of the tree of the fleet, however little is in memory',
  async (form) => {
    const dir = await folder();
    await fc.assert(
      fc.asyncProperty(someComponents, fc.integer({ min: 1, max: 60 }), async (components, members) => {
        const tree = componentInventory(components, rules);
        await writeInventory(dir, tree, form);
        const expected = await textIn(dir);
        const names = [...components.map(({ id }) => id), 'role_web', 'a_b', 'all', 'none'];
        const written = await writtenInParts(dir, components, { form, names, memory: { members, text: 10 * members } });
        expect(await textIn(dir)).toBe(expected);
        expect(written.hosts).toBe(tree.hosts.size);
        expect(limitHosts(written.names, names)).toEqual(limitHosts(namesOf(tree), names));
        expect([...written.warnings].sort()).toEqual(leftOutWarnings(tree.leftOut, '').sort());
        expect(await readdir(dir)).toEqual([GENERATED_INVENTORY]);
      }),
    );
  },
);

test('ten thousands of hosts give the file of the tree, from parts that are merged', async () => {
  const dir = await folder();
  const components = Array.from({ length: 30_000 }, (_, index) => ({
    id: `n_${index}`,
    tags: { ansible_user: `u${index}`, role: 'web', rack: `r${Math.floor(index / 1_000)}`, serial: `s${index}` },
  }));
  const written = await writtenInParts(dir, components, { form: 'data', memory: { members: 20_000, text: 100_000 } });
  const inParts = await textIn(dir);
  await writeInventory(dir, componentInventory(components, rules), 'data');
  expect(written).toMatchObject({ hosts: 30_000, warnings: [] });
  expect(inParts === (await textIn(dir))).toBe(true);
});

describe('a part in memory', () => {
  test('of groups is no more than is said and what a page adds', async () => {
    const dir = await folder();
    const spools: Spool[] = [];
    const groups = createGroupRuns(() => {
      const spool = openSpool(join(dir, `s${spools.length}`), 1_000);
      spools.push(spool);
      return spool;
    }, 5_000);
    for (let page = 0; page < 100; page += 1) {
      for (let host = 0; host < 500; host += 1) groups.add('all_of_it', `n${page}-${host}`);
      await groups.settle();
    }
    expect(groups.heaviest).toBeLessThan(5_000 + 500 + 100);
    const found: string[] = [];
    for await (const { name, members } of groups.pieces()) {
      expect(name).toBe('all_of_it');
      expect(members.length).toBeLessThanOrEqual(1_000);
      found.push(...members);
    }
    expect(found).toHaveLength(50_000);
    expect(found.slice(0, 3)).toEqual(['n0-0', 'n0-1', 'n0-2']);
    expect(spools.length).toBeGreaterThan(5);
    await Promise.all(spools.map((spool) => spool.close()));
  });

  test('of text goes to a file without a name, and is read again as often as is asked', async () => {
    const dir = await folder();
    const spool = openSpool(join(dir, 'spool'), 10);
    for (const record of ['é', '\u{1F511}'.repeat(9), '', 'last']) await spool.write(`${record}\n`);
    expect(await readdir(dir)).toEqual([]);
    for (const _ of [1, 2]) {
      const records: string[] = [];
      for await (const some of recordsOf(spool, '\n')) records.push(...some);
      expect(records).toEqual(['é', '\u{1F511}'.repeat(9), '', 'last']);
    }
    await spool.close();
  });
});

describe('what ends before its time', () => {
  const components = Array.from({ length: 9 }, (_, index) => ({ id: `n${index}`, tags: { role: 'web' } }));

  test('is given up at the next page, and the file of before stays', async () => {
    const dir = await folder();
    await writtenInParts(dir, components, { form: 'data', memory: {} });
    const before = await textIn(dir);
    const giveUp = new AbortController();
    let pages = 0;
    const eachPage = fleetRecords(components).eachPage;
    const failed = writeFleet(
      { dir, form: 'data', limit: '', signal: giveUp.signal },
      {
        rules,
        eachPage: (take) =>
          eachPage(async (page) => {
            pages += 1;
            if (pages === 2) giveUp.abort(new Error('given up'));
            await take(page);
          }),
      },
      { limitNames: new Set(), memory: { members: 1, text: 1 } },
    );
    await expect(failed).rejects.toThrow('given up');
    expect(pages).toBe(2);
    expect(await textIn(dir)).toBe(before);
    expect(await readdir(dir)).toEqual([GENERATED_INVENTORY]);
  });

  test('is components out of order', async () => {
    const failed = writeFleet(
      { dir: await folder(), form: 'data', limit: '', signal: going },
      { rules, eachPage: (take) => take([...components].reverse()) },
      { limitNames: new Set() },
    );
    await expect(failed).rejects.toThrow('n7 comes after n8');
  });
});
