import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from './helm.ts';

export interface Flow {
  from: string;
  to: string;
  port: string;
  why: string;
}

export interface Flows {
  parts: Record<string, string>;
  outside: Record<string, string>;
  /** One number, or two with a hyphen. */
  ports: Record<string, number | string>;
  defaults: Record<string, number[]>;
  flows: Flow[];
}

/** Who talks to whom: what the network policies are made from. */
export function readFlows(): Flows {
  return parse(readFileSync(join(CHART, 'flows.yaml'), 'utf8'));
}
