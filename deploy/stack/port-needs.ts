import type { Environment } from '../../config/environment.ts';
import type { PortNeed } from './ports.ts';

/** The ports that a stack with these settings listens on. */
export function portNeeds(environment: Environment): PortNeed[] {
  const loopback = '127.0.0.1';
  const needs: PortNeed[] = [
    { host: environment.MUSTER_API_HOST, port: environment.MUSTER_API_PORT, owner: 'api', setting: 'MUSTER_API_PORT' },
  ];
  if (!environment.MUSTER_DATABASE_URL) {
    needs.push({
      host: loopback,
      port: environment.MUSTER_POSTGRES_PORT,
      owner: 'postgres',
      setting: 'MUSTER_POSTGRES_PORT',
    });
  }
  if (!environment.MUSTER_TEMPORAL_ADDRESS) {
    needs.push({
      host: loopback,
      port: environment.MUSTER_TEMPORAL_PORT,
      owner: 'temporal',
      setting: 'MUSTER_TEMPORAL_PORT',
    });
    const uiPort = environment.MUSTER_TEMPORAL_UI_PORT;
    needs.push({ host: loopback, port: uiPort, owner: 'temporal web UI', setting: 'MUSTER_TEMPORAL_UI_PORT' });
  }
  return needs;
}
