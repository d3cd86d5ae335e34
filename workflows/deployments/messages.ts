/** Everything that can be said to the workflows of AppContexts. */
import { defineSignal } from '@temporalio/workflow';

/** Something was asked of the AppContext: its row says what. */
export const wakeContext = defineSignal('wakeContext');

/** From the work on a cluster: all that is left of it waits, so that another cluster may begin. */
export const clusterWaits = defineSignal<[{ cluster: string }]>('clusterWaits');

/** The work on a cluster looks again: the cluster answers, or the AppContext is stopped, or terminated. */
export const lookAgain = defineSignal('lookAgain');

/** From the work on a cluster that holds no place: the cluster answers again, and there is something to do. */
export const clusterReturns = defineSignal<[{ cluster: string }]>('clusterReturns');

/** To the work on a cluster that has asked: it holds a place again. */
export const takePlace = defineSignal('takePlace');
