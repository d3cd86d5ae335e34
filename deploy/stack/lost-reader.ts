/**
 * Lets this process outlive who reads its messages: `2>&1 | tee log`, whose end is Ctrl-C too, or a terminal that is gone. The
 * messages are lost then; the parts of the stack still have to be stopped.
 */
export function outliveReader(): void {
  process.stderr.on('error', () => undefined);
}
