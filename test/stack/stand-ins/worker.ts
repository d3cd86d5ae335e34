/** Stands in for the worker: says that it is ready and stays. */
process.send?.('ready');
const life = setInterval(() => undefined, 60_000);
process.on('SIGTERM', () => clearInterval(life));
