'use strict';
/** Loaded into a gate by its NODE_OPTIONS: collects garbage on SIGUSR2, so that the heap it tells afterwards is what it holds. */
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  collect();
});
