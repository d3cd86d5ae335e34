/** What a whole fleet costs a playbook on one of its hosts: bare with Muster's inventory plugin, and what Muster adds. */
import { join } from 'node:path';
import { componentInventory } from '../../domain/components/inventory/inventory.ts';
import { inventoryData } from '../../drivers/inventory/write-inventory.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type BareRun, bareRun } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';
import { heldByWall, measuredSession, measureRounds } from './session-share.ts';

const AT_ONCE = 10_000;
/** Muster may add so much to the bare run, s. */
const ADDED_MAX = 1;
const PLUGINS = join(import.meta.dirname, '..', '..', 'ansible', 'plugins', 'inventory');

/** Makes the components of the fleet. */
async function putFleet(stack: MusterStack, count: number): Promise<Component[]> {
  const fleet = Array.from({ length: count }, (_, index) => componentOf(index));
  for (let start = 0; start < count; start += AT_ONCE) {
    const { status } = await stack.call('PUT', '/v3/components', fleet.slice(start, start + AT_ONCE));
    if (status !== 200) throw new Error(`PUT components: ${status}`);
  }
  return fleet;
}

/** What Muster writes for these components. */
const dataOf = (components: readonly Component[]): string =>
  [...inventoryData(componentInventory(components, { allowLocalConnection: true }))].join('');

type Component = ReturnType<typeof componentOf>;

/** Components with the tags of a site: each is in three groups. */
const componentOf = (index: number) => ({
  id: `n${index}`,
  tags: {
    ansible_connection: 'local',
    role: index % 2 === 0 ? 'compute' : 'application',
    rack: `r${index % 64}`,
    site: `s${index % 4}`,
  },
});

export async function measureWholeFleet(
  stack: MusterStack,
  {
    count,
    seconds,
    rounds,
    bare,
  }: { count: number; seconds: number; rounds: number; bare: Omit<BareRun, 'inventory'> },
): Promise<Measurement> {
  const fleet = await putFleet(stack, count);
  const whole = { plugins: PLUGINS, limit: 'n0' };
  const works = {
    one: { ...bare, whole, inventory: dataOf(fleet.slice(0, 1)) },
    all: { ...bare, whole, inventory: dataOf(fleet) },
  };
  const walls = { one: [] as number[], all: [] as number[], muster: [] as number[] };
  for (let index = -1; index < rounds; index += 1) {
    const one = await bareRun(works.one);
    const all = await bareRun(works.all);
    const muster = await measuredSession(stack, 'one', 'n0', `fleet-${count}-${index + 1}`);
    // The first round warms caches.
    if (index < 0) continue;
    walls.one.push(one.wall);
    walls.all.push(all.wall);
    walls.muster.push(muster.wall);
  }
  const more = (mine: number[], base: number[]) => median(mine.map((wall, index) => wall - (base[index] ?? 0)));
  const [fleetAdds, musterAdds] = [more(walls.all, walls.one), more(walls.muster, walls.all)];
  const samples = Object.entries(walls).map(([name, seconds]) => [name, seconds.map((wall) => round(wall, 3))]);
  return {
    what: `one host of a fleet of ${count.toLocaleString('en')}, scope all`,
    bar: `one host + ${seconds} s, Muster + ${ADDED_MAX} s`,
    measured: `one host ${round(median(walls.one))} s + ${round(fleetAdds)} s, Muster + ${round(musterAdds)} s`,
    met: fleetAdds <= seconds && musterAdds <= ADDED_MAX,
    samples: Object.fromEntries(samples),
  };
}

/** Layers on one host of the fleet, each of which sees the whole inventory, as a share of the same playbooks without Muster. */
export async function measureFleetLayers(
  stack: MusterStack,
  {
    count,
    layers,
    ratio,
    rounds,
    bare,
  }: { count: number; layers: readonly string[]; ratio: number; rounds: number; bare: Omit<BareRun, 'inventory'> },
): Promise<Measurement> {
  const given = { ...bare, whole: { plugins: PLUGINS, limit: 'n0' }, inventory: dataOf(await putFleet(stack, count)) };
  const options = { rounds, configuration: `layers-${layers.length}`, limit: 'n0' };
  const works = layers.map((playbook) => ({ ...given, playbook }));
  return heldByWall(
    `${layers.length} layers on one host of ${count.toLocaleString('en')}, scope all`,
    await measureRounds(stack, { ...options, bare: works }),
    ratio,
  );
}
