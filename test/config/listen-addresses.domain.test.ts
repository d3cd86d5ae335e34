import { expect, test } from '@jest/globals';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';

const read = (probes: string) => loadEnvironment({ MUSTER_WORKER_PROBES: probes }).MUSTER_WORKER_PROBES;

test.each(['0.0.0.0:8102', '127.0.0.1:1', 'localhost:8102', '[::]:8102', '[fd00::1]:8102'])(
  '%s is an address',
  (text) => {
    expect(read(text)).toBe(text);
  },
);

test.each(['::', ':::8102', '[::]', '[::]:', '[::1]8102', '[]:8102', 'fd00::1:8102', '[host]:8102', ':8102'])(
  '%s is none, and the setting is named',
  (text) => {
    expect(() => read(text)).toThrow(EnvironmentError);
    expect(() => read(text)).toThrow('MUSTER_WORKER_PROBES: must be host:port');
  },
);
