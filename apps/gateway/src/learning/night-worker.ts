/** The thread of one night's learning: it reads the file of looks, and returns its results. */
import { setPriority, constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { learnNamesNow, type NamesNight } from './names-night.ts'
import { learnAll, type CameraNight, type NightOptions } from './night.ts'
import { openLearningStore } from './store.ts'

export type NightTask = Omit<NightOptions, 'store'> & { path: string }
export type NightResult = { cameras: CameraNight[]; names: NamesNight }

const { path, ...task } = workerData as NightTask
// Linux gives each thread a priority of its own; elsewhere this would slow the whole agent down.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW)
const store = openLearningStore(path, 'read-only')
try {
  const result: NightResult = {
    cameras: learnAll({ ...task, store }),
    names: learnNamesNow(store.names, task.reviews),
  }
  parentPort?.postMessage(result)
} finally {
  store.close()
}
