/** What Muster is held against: the same calls to the same clusters by a loop, so many at a time at each. */
import { type BareMember, openBareMember } from './bare-member.ts';
import type { BareObject } from './deployment-objects.ts';
import type { Member } from './deployments-place.ts';

export interface LoopUsage {
  /** Seconds. */
  wall: number;
  /** Seconds of a core, of this process. */
  cpu: number;
}

/** Makes a call for each object at each member; the connections are made anew. */
export async function bareLoop(
  members: readonly Member[],
  objects: readonly BareObject[],
  call: 'apply' | 'remove',
  atOnce: number,
): Promise<LoopUsage> {
  const open = members.map(({ kubeconfig }) => openBareMember(kubeconfig, atOnce));
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  try {
    await Promise.all(open.map((member) => atMember(member, objects, call, atOnce)));
    const { user, system } = process.cpuUsage(cpu);
    return { wall: (performance.now() - began) / 1_000, cpu: (user + system) / 1e6 };
  } finally {
    for (const member of open) member.close();
  }
}

async function atMember(
  member: BareMember,
  objects: readonly BareObject[],
  call: 'apply' | 'remove',
  atOnce: number,
): Promise<void> {
  const left = objects.values();
  const work = async () => {
    for (const object of left) await member[call](object);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
