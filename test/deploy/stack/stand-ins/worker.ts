/** Stands in for the worker: says that it is ready and each second that it lives, and stays. */
process.send?.('ready');
const life = setInterval(() => process.connected && process.send?.({ type: 'alive', ill: null }), 1_000);
process.on('SIGTERM', () => clearInterval(life));
