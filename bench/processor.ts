import { readFileSync } from 'node:fs'

/** The unit in which Linux counts processor time (sysconf(3), USER_HZ). */
const TICKS_A_SECOND = 100

/** The processor time of all threads, in the process and in the kernel, so far (proc_pid_stat(5), fields 14 and 15). */
export function processorSecondsOf(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(afterName[11]) + Number(afterName[12])) / TICKS_A_SECOND
}

/** The same of several processes with their children, such as nginx's worker. */
export function processorSecondsOfAll(pids: readonly number[]): number {
  const children = (pid: number) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return pids.flatMap((pid) => [pid, ...children(pid)]).reduce((seconds, pid) => seconds + processorSecondsOf(pid), 0)
}
