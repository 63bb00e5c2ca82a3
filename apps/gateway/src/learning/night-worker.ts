/** The thread of one night's learning: it reads the file of looks, and returns its results. */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { learnAll, type NightOptions } from './night.ts'
import { openLearningStore } from './store.ts'

export type NightTask = Omit<NightOptions, 'store'> & { path: string }

const { path, ...task } = workerData as NightTask
// Linux gives each thread a priority of its own; elsewhere this would slow the whole agent down.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW)
const store = openLearningStore(path, 'read-only')
try {
  parentPort?.postMessage(learnAll({ ...task, store }))
} finally {
  store.close()
}
