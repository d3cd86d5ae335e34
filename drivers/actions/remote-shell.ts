/** Shell actions at targets: the program that talks to them over ssh. */
import { spawn } from 'node:child_process';
import type { TargetAnswer, TargetCall, TargetShells } from '../../domain/propagation/ports.ts';

export interface TargetShellOptions {
  /** Interpreter of this machine. */
  python: string;
  /** The file `over_ssh.py`. */
  program: string;
  /** What ssh gets of an environment. */
  environment: Readonly<Record<string, string>>;
  /** Time that a target has to end an action, ms. */
  patienceMs?: number;
}

/** The far side gives processes 17 s; a connection takes at most 15 s. */
const PATIENCE_MS = 45_000;
/** So much of an answer is read, characters. */
const LONGEST_ANSWER = 64 * 1024;

/** Makes what begins and ends shell actions at targets. */
export function createTargetShells(options: TargetShellOptions): TargetShells {
  return {
    argv: (callFile) => [options.python, options.program, 'run', callFile],
    end: (call) => asked(options, call),
  };
}

/** Asks once. The program waits for its ssh, so nothing of it is left when the answer is there. */
function asked({ python, program, environment, patienceMs = PATIENCE_MS }: TargetShellOptions, call: TargetCall) {
  return new Promise<TargetAnswer>((resolve) => {
    const child = spawn(python, [program, 'end', '-'], {
      // A group of its own, so that ssh goes with the program.
      ...{ cwd: '/', env: { ...environment }, detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
    });
    let text = '';
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid);
    }, patienceMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ isReached: false, isGone: false, why: error.message });
    });
    child.stdin?.on('error', () => undefined);
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < LONGEST_ANSWER) text += piece;
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(isLate ? late(patienceMs) : answerOf(text, code === 0));
    });
    child.stdin?.end(JSON.stringify(call));
  });
}

const late = (patienceMs: number): TargetAnswer => ({
  isReached: false,
  isGone: false,
  why: `the target did not answer within ${patienceMs / 1_000} s`,
});

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function answerOf(text: string, isReached: boolean): TargetAnswer {
  try {
    const { gone, why } = JSON.parse(text) as { gone?: unknown; why?: unknown };
    return { isReached, isGone: isReached && gone === true, why: typeof why === 'string' ? why : null };
  } catch {
    return { isReached: false, isGone: false, why: 'the program that talks to the target gave no answer' };
  }
}
