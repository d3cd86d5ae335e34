import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** gRPC's codes for what is expected: there is no such namespace; somebody else was faster. */
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/**
 * Sees to it that the namespace is there, and answers whether it was made; one that exists is left as it is. A new one keeps
 * workflows for `retentionDays` after their end. A server that lets nobody make namespaces in this way must have it already.
 */
export async function ensureNamespace(
  connection: Connection,
  namespace: string,
  retentionDays: number,
): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return false;
  } catch (error) {
    if (codeOf(error) !== NOT_FOUND) throw error;
  }
  try {
    const workflowExecutionRetentionPeriod = msToTs(`${retentionDays} days`);
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    return true;
  } catch (error) {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
