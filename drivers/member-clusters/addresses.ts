/** Where connections to member clusters may lead. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { musterError } from '../../domain/errors.ts';

export interface AddressRules {
  allowLoopback: boolean;
  /** CIDRs; empty: every address that is not forbidden. */
  networks: readonly string[];
  /** Where Muster's own parts listen; `0.0.0.0` and `::` stand for every address of this machine. */
  own: readonly { host: string; port: number }[];
}

export interface ClusterAddresses {
  /** Returns a check that throws `cluster_address_not_allowed` for an address of this server that must not be connected to. */
  checkOf(server: URL): Promise<(address: string) => void>;
  /** Checks what the server's name resolves to now. A name that does not resolve passes. Throws `cluster_address_not_allowed`. */
  check(server: URL): Promise<void>;
}

/** Link-local, multicast, unspecified, broadcast, and networks that stand for addresses of version 4 behind them. */
const NEVER: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['2002::', 16],
];
const LOOPBACK: readonly [string, number][] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];
/** Port of `https` without one. */
const HTTPS = 443;

export function openAddresses({ allowLoopback, networks, own }: AddressRules): ClusterAddresses {
  const never = blockList(NEVER);
  const loopback = blockList(LOOPBACK);
  const allowed = networks.length === 0 ? null : blockList(networks.map(partsOf));
  const checkOf = async (server: URL): Promise<(address: string) => void> => {
    const port = Number(server.port || HTTPS);
    const taken = await addressesOf(own.filter((place) => place.port === port).map(({ host }) => host));
    return (address) => {
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      const isForbidden =
        isIP(address) === 0 ||
        never.check(address, family) ||
        (!allowLoopback && loopback.check(address, family)) ||
        (allowed !== null && !allowed.check(address, family)) ||
        taken.check(address, family);
      if (!isForbidden) return;
      throw musterError(
        'cluster_address_not_allowed',
        `${server.host} leads to ${address}, which Muster must not connect to`,
      );
    };
  };
  return {
    checkOf,
    async check(server) {
      const checkAddress = await checkOf(server);
      for (const address of await resolved(hostOf(server))) checkAddress(address);
    },
  };
}

/** Returns a host without the brackets of an address of version 6. */
export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[(.*)\]$/, '$1');
}

async function addressesOf(hosts: readonly string[]): Promise<BlockList> {
  const found = new BlockList();
  for (const host of hosts) {
    const isEverywhere = host === '0.0.0.0' || host === '::';
    const addresses = isEverywhere ? ownAddresses() : await resolved(host);
    for (const address of addresses) found.addAddress(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return found;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
}

async function resolved(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  return (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
}

function blockList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

function partsOf(cidr: string): [string, number] {
  const [address = '', prefix = ''] = cidr.split('/');
  return [address, Number(prefix)];
}
