import type { Client } from '@temporalio/client';
import type { OperatorMeters } from '../../domain/operator/meters.ts';
import type { ResourceClient, ResourceNotices, RunDirectories } from '../../domain/operator/ports.ts';
import type { RunWays } from '../../domain/operator/proxy-ports.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import type { Db } from '../../store/connection/database.ts';
import { kindKey } from '../../store/operator/due.ts';
import type { Tell } from '../temporal/tell.ts';

/** An entry with the hash of all that its runs are made of. */
export interface HashedEntry {
  entry: WatchEntry;
  hash: string;
}

/** What all work of an operator stands on. */
export interface OperatorSite {
  db: Db;
  clock(): Date;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Name of the operator. */
  operator: string;
  /** Id of this machine's data directory. */
  hostId: string;
  home: string;
  entries: readonly HashedEntry[];
  /** Of `--reconcile-period`. */
  defaultPeriodSeconds: number;
  keepReconciles: number;
  cluster: ResourceClient;
  directories: RunDirectories;
  ways: RunWays;
  notices: ResourceNotices;
  meters: OperatorMeters;
  client: Client;
  tell: Tell;
  /** From 0 to 1. */
  random(): number;
}

/** Returns the entry of a kind; null where the file has none any more. */
export function entryOf(
  { entries }: Pick<OperatorSite, 'entries'>,
  { group, version, kind }: { group: string; version: string; kind: string },
): HashedEntry | null {
  const key = kindKey(group, version, kind);
  return entries.find(({ entry }) => kindKey(entry.group, entry.version, entry.kind) === key) ?? null;
}
