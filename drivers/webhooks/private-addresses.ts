import { BlockList, isIP } from 'node:net';

/** Addresses that do not lead out to the internet: loopback, private, link-local, shared, and those for special use. */
const NETWORKS: readonly [address: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['::1', 128],
  // Those that stand for an address of version 4 are taken for private altogether: nobody is reached by them alone.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const blocked = new BlockList();
for (const [address, prefix] of NETWORKS) blocked.addSubnet(address, prefix, address.includes(':') ? 'ipv6' : 'ipv4');

/** Whether an address is private; version 4 written as version 6 counts as what it means. Text that is none is private. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  return version === 0 || blocked.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
